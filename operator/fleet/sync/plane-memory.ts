// Defines what the rounds with a data plane share, what they remember of it, and what a round results in.

import type { Limiter } from '../../../base/limiter.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { DataPlane, DataPlanePhase } from '../../data-plane.ts'
import type { SyncReply } from '../../../language/wire/wire.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { Clock } from '../../../base/clock.ts'
import { type ResponseBound, responseBound } from '../client/bounded-body.ts'
import type { FleetCounter, PlaneCounter } from './counters.ts'
import type { ShareContents } from './loaded-contents.ts'
import type { LoadedState } from './loaded-state.ts'
import type { ManagementClient } from '../management-client.ts'
import { MassDeleteGuard } from './mass-delete-guard.ts'
import type { Recency } from './recency.ts'
import { Rejections } from './rejections.ts'
import type { Selection } from './selection.ts'
import type { SyncBodies } from './sync-body.ts'
import type { EpochSource } from '../../epoch.ts'
import type { Withholding } from './withholding.ts'

/** What the rounds of all data planes share. */
export interface FleetContext {
  readonly manager: string
  /** The version of this program; absent: differing versions are not reported. */
  readonly version: string | undefined
  readonly epochSource: EpochSource
  readonly clock: Clock
  readonly log: Log
  readonly bodies: SyncBodies
  readonly shareContents: ShareContents
  readonly recency: Recency
  readonly counter: FleetCounter
  /** Bytes of bodies that are being sent. */
  readonly bodyBytes: Limiter
  readonly withholding: Withholding
  /** Names of the data planes that keep a document until another one has it. */
  readonly waiting: Set<string>
  /** A state that was read within this time is trusted; if it has changed since, the response to a sync call is 412. */
  readonly freshMs: number
  /** Lists live: true if what the cache lacks is really gone. The next selection takes that into account. */
  readonly confirmDeletes: () => Promise<boolean>
}

/** What the rounds with one data plane share. */
export interface RoundContext extends FleetContext {
  readonly counts: PlaneCounter
  /** Aborted when nothing may be sent any more. */
  readonly signal: AbortSignal
  /** Whether another ready data plane that the document selects has loaded a version of it. */
  readonly isElsewhere: (wanted: DesiredDocument) => boolean
  /** Whether another ready data plane has loaded exactly this version of a document. */
  readonly isHeldElsewhere: (id: string, digest: string) => boolean
  /** While it waits for a permit: see `Limiter`. */
  readonly urgency: () => number
  /** Called when the data plane has responded. */
  readonly onResponse: () => void
  /** False: the desired state has changed. */
  readonly isCurrent: (selection: Selection) => boolean
}

export interface RoundResult {
  readonly phase: DataPlanePhase
  /** For a person; empty if there is no problem. */
  readonly message: string
  /**
   * When the next round runs. `moved`: at once, as something has changed meanwhile. `again`: at once, as only a part is
   * done and something newer must be sent first. `poll`: at a change or the next poll. `back_off`: this round has failed.
   */
  readonly next: 'moved' | 'again' | 'poll' | 'back_off'
}

/**
 * For documents that an earlier operator has sent and those loaded by hand, some 130 bytes for each: 60,000 for a gateway
 * of the shared pool, 2,000 for a sidecar, of which a namespace may have very many.
 */
const SHARED_BASE_BYTES = 8 * 1024 * 1024
const SIDECAR_BASE_BYTES = 256 * 1024

/** What is remembered about one data plane from round to round. */
export class PlaneMemory {
  readonly client: ManagementClient
  dataPlane: DataPlane
  loaded: LoadedState | undefined
  etag: string | undefined
  observedAtMs = -Infinity
  readonly rejections = new Rejections()
  readonly guard: MassDeleteGuard
  /** Ids of documents that are deleted here as soon as another data plane, which they select, has them. */
  waitsFor: readonly string[] = []
  /** The most bytes that it may need to report what it was sent. */
  #reportedBytes = 0
  #since: { readonly bootId: string; readonly version: number } | undefined

  /** @param guard of the previous worker, if this is the same data plane after a restart */
  constructor(dataPlane: DataPlane, client: ManagementClient, guard = new MassDeleteGuard()) {
    this.dataPlane = dataPlane
    this.client = client
    this.guard = guard
  }

  /** Call it when what is known may be wrong: the next round reads the whole state. */
  invalidate(): void {
    this.etag = undefined
    this.observedAtMs = -Infinity
  }

  /** Call it when a sync call has changed the state and reported everything: the state need not be read again. */
  followed({ state }: SyncReply): void {
    if (this.etag !== undefined && state?.before === this.etag) this.etag = state.after
  }

  /**
   * How large its response may be. Everything that it was ever sent counts, as it may still be there; what it claims to
   * have loaded does not, as its responses could grow from one to the next.
   * @param itemBytes for what it reports besides its state
   */
  responseBound(selection: Selection, itemBytes = 0): ResponseBound {
    this.#reportedBytes = Math.max(this.#reportedBytes, selection.reportedBytes())
    const base = this.dataPlane.namespace === undefined ? SHARED_BASE_BYTES : SIDECAR_BASE_BYTES
    return responseBound(base, this.#reportedBytes + itemBytes)
  }

  /** Version of the desired state when the rounds with this boot began: what came later is an edit. */
  since({ bootId }: LoadedState, { desired }: Selection): number {
    if (this.#since?.bootId !== bootId) this.#since = { bootId, version: desired.version }
    return this.#since.version
  }
}

export const failed = (message: string): RoundResult => ({
  phase: 'unreachable',
  message,
  next: 'back_off',
})
