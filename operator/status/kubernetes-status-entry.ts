// Decides for one resource whether its status must be written, by comparing the desired status with what is known of the
// one in the API. It deals neither with time nor with requests.

import type { ValueMap } from '../../language/expression/value.ts'
import { API_VERSION, type Metadata, type Resource } from '../resource/resource.ts'
import { DEFAULT_CLASS } from '../resource/resource-schema.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import {
  type Difference,
  differenceOf,
  recordedStatus,
  statusObject,
  type StatusObject,
} from './kubernetes-status-object.ts'

interface Written {
  readonly status: StatusObject
  readonly uid: string
  /** Versions of the resource up to that write: if one of them is read, it may lack what was written last. */
  readonly versions: readonly string[]
}

const MAX_VERSIONS = 8

export interface StatusWrite {
  readonly kind: ResourceStatus['result']['resource']['kind']
  readonly name: { readonly namespace: string; readonly name: string }
  readonly object: ValueMap
  readonly status: StatusObject
  readonly metadata: Metadata
  /** `gatewayClassName` of the resource as it was validated or released: nothing is known of another class. */
  readonly className: string
  /** The status says that we do not manage the resource any more: it may only replace a status of our own. */
  readonly isRelease: boolean
}

export type WaitReason =
  /** Changes that follow each other are written together. */
  | 'coalescing'
  /** Changes of messages or counts alone can wait. */
  | 'wording'
  | 'counts'
  /** The write is retried later. */
  | 'failure'

interface Wait {
  readonly why: WaitReason
  readonly cancel: () => void
}

export class StatusEntry {
  #source: ResourceStatus
  /** As it was read last, with its status in the API. */
  #resource: ResourceStatus['result']['resource']
  #wanted: StatusObject
  #written: Written | undefined
  /** The version of the resource whose last write found that it is gone. */
  #goneVersion: string | undefined
  failures = 0
  /** A request is under way. */
  isInFlight = false
  lastWriteMs = Number.NEGATIVE_INFINITY
  /** Since when only counts have differed from the status in the API. */
  countsSinceMs: number | undefined
  /** The resource is gone, or our leader term is over. */
  isForgotten = false
  /** While it is set, nothing is written. */
  wait: Wait | undefined

  readonly #operator: string | undefined

  /** @param operator that writes: its namespace and Lease */
  constructor(source: ResourceStatus, operator: string | undefined) {
    this.#operator = operator
    this.#source = source
    this.#resource = source.result.resource
    this.#wanted = statusObject(source, operator)
  }

  get source(): ResourceStatus {
    return this.#source
  }

  /** @returns false: nothing has changed */
  take(source: ResourceStatus): boolean {
    if (source === this.#source) return false
    if (source.result !== this.#source.result) this.#resource = source.result.resource
    this.#source = source
    this.#wanted = statusObject(source, this.#operator)
    return true
  }

  /**
   * Call it when the resource was read again because its status has changed.
   * @returns false: it is another resource
   */
  renew(resource: Resource): boolean {
    if (resource.kind !== 'ApiSpecification' && resource.kind !== 'Realm') return false
    if (resource.metadata.uid !== this.#resource.metadata.uid) return false
    this.#resource = resource
    return true
  }

  difference(): Difference {
    const { metadata } = this.#resource
    if (this.#goneVersion === versionOf(metadata)) return 'none'
    return differenceOf(this.#current(), this.#wanted)
  }

  /**
   * The write has the known version, which identifies the resource among those of its name: the API server ignores the
   * uid where only a status is applied.
   */
  write(): StatusWrite {
    const { kind, metadata, className = DEFAULT_CLASS } = this.#resource
    const { namespace, name, uid } = metadata
    return {
      kind,
      className,
      isRelease: this.#source.result.isReleased === true,
      name: { namespace, name },
      object: {
        apiVersion: API_VERSION,
        kind,
        metadata: { namespace, name, uid, resourceVersion: this.#lastVersion() },
        // An interface, but nothing that JSON does not have.
        status: this.#wanted as unknown as ValueMap,
      },
      status: this.#wanted,
      metadata,
    }
  }

  wrote({ status, metadata: { uid, resourceVersion } }: StatusWrite, version: string): void {
    const before = this.#written?.uid === uid ? this.#written.versions : []
    const versions = [...before, resourceVersion, version].slice(-MAX_VERSIONS)
    this.#written = { status, uid, versions }
    this.failures = 0
  }

  endWait(): void {
    this.wait?.cancel()
    this.wait = undefined
  }

  forget(): void {
    this.endWait()
    this.isForgotten = true
  }

  gone({ metadata }: StatusWrite): void {
    this.#goneVersion = versionOf(metadata)
    this.failures = 0
  }

  /** The status in the API: the one that was read, unless what we have written is newer. */
  #current(): StatusObject | undefined {
    return this.#newerWritten()?.status ?? recordedStatus(this.#resource)
  }

  #lastVersion(): string {
    const { resourceVersion } = this.#resource.metadata
    return this.#newerWritten()?.versions.at(-1) ?? resourceVersion
  }

  /** What we have written last; undefined: what was read is newer. */
  #newerWritten(): Written | undefined {
    const { uid, resourceVersion } = this.#resource.metadata
    const written = this.#written
    return written?.uid === uid && written.versions.includes(resourceVersion) ? written : undefined
  }
}

const versionOf = ({ uid, resourceVersion }: Metadata): string => `${uid} ${resourceVersion}`
