// Defines what the rounds with a data plane share, what they remember of it, and what a round results in.

import type { Limiter } from '../../../base/limiter.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { DataPlane, DataPlanePhase } from '../../data-plane.ts'
import type { SyncReply } from '../../../language/wire/wire.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { Clock } from '../../../base/clock.ts'
import { type AnswerBound, answerBound } from '../client/bounded-body.ts'
import type { FleetCounter, PlaneCounter } from './counters.ts'
import type { LoadedState } from './loaded-state.ts'
import type { SharedEntries } from './shared-entries.ts'
import type { SharedPlans } from './shared-plans.ts'
import type { ManagementClient } from '../management-client.ts'
import { MassDeleteGuard } from './mass-delete-guard.ts'
import type { Recency } from './recency.ts'
import { Rejections } from './rejections.ts'
import type { Keys, Selection } from './selection.ts'
import { SharedMap, type SharedSteps } from './shared-map.ts'
import type { SyncBodies } from './sync-body.ts'
import type { EpochSource } from '../../epoch.ts'
import type { Withholding } from './withholding.ts'

/** What the rounds of all data planes share. */
export interface FleetContext {
  readonly manager: string
  /** Of this program; absent: nothing is said of versions. */
  readonly version: string | undefined
  readonly epochSource: EpochSource
  readonly clock: Clock
  readonly log: Log
  readonly bodies: SyncBodies
  readonly entries: SharedEntries
  /** From what was sent to what was sent after that. */
  readonly pushedSteps: SharedSteps<DesiredDocument>
  readonly plans: SharedPlans
  readonly recency: Recency
  readonly counter: FleetCounter
  /** Bytes of bodies under way. */
  readonly bodyBytes: Limiter
  readonly withholding: Withholding
  /** Names of the data planes that keep a document until another one has it. */
  readonly waiting: Set<string>
  /** What was observed within this time is trusted; where that is wrong, the response is 412. */
  readonly freshMs: number
  /** Lists live: true when what the cache lacks is really gone. The next selection knows of it. */
  readonly confirmDeletes: () => Promise<boolean>
}

/** What the rounds with one data plane share. */
export interface RoundContext extends FleetContext {
  readonly counts: PlaneCounter
  /** Aborted when nothing may be sent any more. */
  readonly signal: AbortSignal
  /** Another ready data plane, of those that the document selects, has a version of it loaded. */
  readonly isElsewhere: (wanted: DesiredDocument) => boolean
  /** Another ready data plane has this very version of a document loaded. */
  readonly isHeldElsewhere: (id: string, digest: string) => boolean
  /** While it waits for a permit: see `Limiter`. */
  readonly urgency: () => number
  /** It has answered. */
  readonly onAnswer: () => void
  /** False: something else is desired by now. */
  readonly isCurrent: (selection: Selection) => boolean
}

export interface RoundResult {
  readonly phase: DataPlanePhase
  /** For a person; empty where all is well. */
  readonly message: string
  /**
   * `moved`: something moved meanwhile, so once more, at once. `again`: part of it is done, and something
   * newer is to go first. `poll`: at a change or the next poll. `back_off`: it failed.
   */
  readonly next: 'moved' | 'again' | 'poll' | 'back_off'
}

/**
 * For what an operator before this one gave it, and what was loaded by hand: some 130 bytes for each document. A gateway
 * of the shared pool may have had 60,000, a sidecar, of which a namespace may have very many, 2,000.
 */
const SHARED_BASE_BYTES = 8 * 1024 * 1024
const SIDECAR_BASE_BYTES = 256 * 1024

/** One for all, as steps begin at a map. */
const NOTHING_PUSHED: ReadonlyMap<string, DesiredDocument> = new Map()

/** What is remembered of one data plane from round to round. */
export class PlaneMemory {
  readonly client: ManagementClient
  dataPlane: DataPlane
  loaded: LoadedState | undefined
  etag: string | undefined
  observedAtMs = -Infinity
  readonly rejections = new Rejections()
  readonly guard: MassDeleteGuard
  /** What was sent last under each id: its claims are those that are loaded. */
  pushed: SharedMap<DesiredDocument>
  /** Ids of documents that are deleted here as soon as another data plane, which they select, has them. */
  waitsFor: readonly string[] = []
  /** The most that it may have to report of what it was sent. */
  #reportedBytes = 0
  #since: { readonly bootId: string; readonly version: number } | undefined

  readonly #pushedSteps: SharedSteps<DesiredDocument>

  /** @param guard of the worker before, where this is the same data plane after a restart */
  constructor(
    dataPlane: DataPlane,
    client: ManagementClient,
    {
      pushedSteps,
      guard = new MassDeleteGuard(),
    }: Pick<FleetContext, 'pushedSteps'> & { readonly guard?: MassDeleteGuard | undefined },
  ) {
    this.dataPlane = dataPlane
    this.client = client
    this.guard = guard
    this.#pushedSteps = pushedSteps
    this.pushed = this.#nothingPushed()
  }

  /** It was started anew: it has nothing of what was sent to it. */
  forgetPushed(): void {
    this.pushed = this.#nothingPushed()
  }

  #nothingPushed(): SharedMap<DesiredDocument> {
    return new SharedMap(NOTHING_PUSHED, this.#pushedSteps)
  }

  /** Where it has loaded what is selected, that is what was sent last, to it or to one that it has read it from. */
  sharePushed({ documents }: Selection, { documents: differing }: Keys): void {
    this.pushed.shareWith(documents, [differing])
  }

  /** What is known may be wrong: the next round reads the whole state. */
  invalidate(): void {
    this.etag = undefined
    this.observedAtMs = -Infinity
  }

  /** A sync call has changed its state, and told all of it: it need not be read again. */
  followed({ state }: SyncReply): void {
    if (this.etag !== undefined && state?.before === this.etag) this.etag = state.after
  }

  /**
   * How large its response may be. What it was sent before may still be there; what it claims to have loaded does not
   * count here, or its responses could grow from one to the next.
   * @param itemBytes of what it is asked for beside its state
   */
  answerBound(selection: Selection, itemBytes = 0): AnswerBound {
    this.#reportedBytes = Math.max(this.#reportedBytes, selection.reportedBytes())
    const base = this.dataPlane.namespace === undefined ? SHARED_BASE_BYTES : SIDECAR_BASE_BYTES
    return answerBound(base, this.#reportedBytes + itemBytes)
  }

  /** Version of the desired set when work on this boot began: what came later is an edit. */
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
