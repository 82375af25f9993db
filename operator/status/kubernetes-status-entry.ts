// Decides for one resource whether there is a status to write, by what it should say and what is known of what it says.
// Knows nothing of time and of requests.

import type { ValueMap } from '../../language/expression/value.ts'
import { API_VERSION, DEFAULT_CLASS, type Metadata, type Resource } from '../resource/resource.ts'
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
  /** Of the resource up to then: as long as it is read as one of them, it does not tell of what was written last. */
  readonly versions: readonly string[]
}

const MAX_VERSIONS = 8

export interface StatusWrite {
  readonly kind: ResourceStatus['verdict']['resource']['kind']
  readonly name: { readonly namespace: string; readonly name: string }
  readonly object: ValueMap
  readonly status: StatusObject
  readonly metadata: Metadata
  /** `gatewayClassName` of what was validated, or let go: of another one nothing is known. */
  readonly className: string
  /** It says that we let the resource go: only over what we have written ourselves. */
  readonly isRelease: boolean
}

export type WaitReason =
  /** What changes together is written together. */
  | 'coalescing'
  /** Other words, and other counts, can wait. */
  | 'wording'
  | 'counts'
  /** It is tried again later. */
  | 'failure'

interface Wait {
  readonly why: WaitReason
  readonly cancel: () => void
}

export class StatusEntry {
  #source: ResourceStatus
  /** As it was read last: with what its status says in the API. */
  #resource: ResourceStatus['verdict']['resource']
  #wanted: StatusObject
  #written: Written | undefined
  /** It was not there when it was last written to. */
  #goneVersion: string | undefined
  failures = 0
  /** A request is under way. */
  isFlying = false
  lastWriteMs = Number.NEGATIVE_INFINITY
  /** Since when nothing but a count has been other than what stands there. */
  countsSinceMs: number | undefined
  /** The resource is gone, or our leader term is over. */
  isForgotten = false
  /** Until then nothing is written. */
  wait: Wait | undefined

  readonly #operator: string | undefined

  /** @param operator that writes: its namespace and Lease */
  constructor(source: ResourceStatus, operator: string | undefined) {
    this.#operator = operator
    this.#source = source
    this.#resource = source.verdict.resource
    this.#wanted = statusObject(source, operator)
  }

  get source(): ResourceStatus {
    return this.#source
  }

  /** False: it is the same as before. */
  take(source: ResourceStatus): boolean {
    if (source === this.#source) return false
    if (source.verdict !== this.#source.verdict) this.#resource = source.verdict.resource
    this.#source = source
    this.#wanted = statusObject(source, this.#operator)
    return true
  }

  /**
   * The same resource was read again: its status says something else.
   * @returns whether it is the same resource
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
    return differenceOf(this.#standing(), this.#wanted)
  }

  /**
   * With the version that is known: it says which resource of that name is meant. The uid would not do, the API server
   * does not look at it where only a status is applied.
   */
  write(): StatusWrite {
    const { kind, metadata, className = DEFAULT_CLASS } = this.#resource
    const { namespace, name, uid } = metadata
    return {
      kind,
      className,
      isRelease: this.#source.verdict.isReleased === true,
      name: { namespace, name },
      object: {
        apiVersion: API_VERSION,
        kind,
        metadata: { namespace, name, uid, resourceVersion: this.#lastVersion() },
        // Data of interfaces; JSON all the same.
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

  /** What the API has: what was read of it, unless that is older than what was written. */
  #standing(): StatusObject | undefined {
    return this.#newerWritten()?.status ?? recordedStatus(this.#resource)
  }

  #lastVersion(): string {
    const { resourceVersion } = this.#resource.metadata
    return this.#newerWritten()?.versions.at(-1) ?? resourceVersion
  }

  /** Undefined: what was read is newer. */
  #newerWritten(): Written | undefined {
    const { uid, resourceVersion } = this.#resource.metadata
    const written = this.#written
    return written?.uid === uid && written.versions.includes(resourceVersion) ? written : undefined
  }
}

const versionOf = ({ uid, resourceVersion }: Metadata): string => `${uid} ${resourceVersion}`
