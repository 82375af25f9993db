// One resource whose status is to be written: what it should say, and what is known of what it says, in; whether there
// is something to write out. Knows nothing of time and of requests.

import type { ValueMap } from '../../spec/expression/value.ts'
import { API_VERSION, type Metadata } from '../resource/resource.ts'
import type { ResourceStatus } from '../reconcile/status-book.ts'
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
  /** Of the resource as it was read when this was written: as long as it is that one, it does not tell of it yet. */
  readonly readVersion: string
  /** After it was written. */
  readonly writtenVersion: string
}

export interface StatusWrite {
  readonly kind: ResourceStatus['verdict']['resource']['kind']
  readonly name: { readonly namespace: string; readonly name: string }
  readonly object: ValueMap
  readonly status: StatusObject
  readonly metadata: Metadata
}

interface Wait {
  /** What changes together is written together; other words can wait; what has failed is tried again later. */
  readonly why: 'coalescing' | 'wording' | 'failure'
  readonly cancel: () => void
}

export class StatusEntry {
  #source: ResourceStatus
  #wanted: StatusObject
  #written: Written | undefined
  /** It was not there when it was last written to. */
  #goneVersion: string | undefined
  failures = 0
  /** A request is under way. */
  isFlying = false
  lastWriteMs = Number.NEGATIVE_INFINITY
  /** The resource is gone, or our turn is over. */
  isForgotten = false
  /** Until then nothing is written. */
  wait: Wait | undefined

  constructor(source: ResourceStatus) {
    this.#source = source
    this.#wanted = statusObject(source)
  }

  get source(): ResourceStatus {
    return this.#source
  }

  /** False: it is the same as before. */
  take(source: ResourceStatus): boolean {
    if (source === this.#source) return false
    this.#source = source
    this.#wanted = statusObject(source)
    return true
  }

  difference(): Difference {
    const { metadata } = this.#source.verdict.resource
    if (this.#goneVersion === versionOf(metadata)) return 'none'
    return differenceOf(this.#standing(), this.#wanted)
  }

  /** With the uid: another resource of this name is refused, not given the status of this one. */
  write(): StatusWrite {
    const { kind, metadata } = this.#source.verdict.resource
    const { namespace, name, uid } = metadata
    return {
      kind,
      name: { namespace, name },
      object: {
        apiVersion: API_VERSION,
        kind,
        metadata: { namespace, name, uid },
        // Data of interfaces; JSON all the same.
        status: this.#wanted as unknown as ValueMap,
      },
      status: this.#wanted,
      metadata,
    }
  }

  wrote({ status, metadata }: StatusWrite, writtenVersion: string): void {
    const { uid, resourceVersion: readVersion } = metadata
    this.#written = { status, uid, readVersion, writtenVersion }
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
  }

  /**
   * What the API has. Faults and warnings are not read back: those that we have not written ourselves count as unknown,
   * so they are applied once more, which changes nothing where they stand there.
   */
  #standing(): StatusObject | undefined {
    const { resource } = this.#source.verdict
    const { uid, resourceVersion } = resource.metadata
    const written = this.#written?.uid === uid ? this.#written : undefined
    const recorded = recordedStatus(resource)
    const isNewer =
      written === undefined ||
      (resourceVersion !== written.readVersion && resourceVersion !== written.writtenVersion)
    if (!isNewer || recorded === undefined) return written?.status
    const { errors, warnings } = written?.status ?? {}
    return {
      ...recorded,
      ...(errors !== undefined && { errors }),
      ...(warnings !== undefined && { warnings }),
    }
  }
}

const versionOf = ({ uid, resourceVersion }: Metadata): string => `${uid} ${resourceVersion}`
