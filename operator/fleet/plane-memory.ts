// What rounds with a data plane share, remember and give: the words between worker, round and its steps.

import type { Log } from '../../telemetry/log.ts'
import type { DataPlane, DataPlanePhase } from '../data-plane.ts'
import type { DesiredDocument } from '../desired-set.ts'
import type { Clock } from '../clock.ts'
import type { Held } from './held.ts'
import type { ManagementClient } from './management-client.ts'
import { MassDeleteGuard } from './mass-delete-guard.ts'
import { Rejections } from './rejections.ts'
import type { SyncTexts } from './sync-body.ts'
import type { Tenure } from '../tenure.ts'

/** What all rounds share. */
export interface RoundContext {
  readonly manager: string
  readonly tenure: Tenure
  readonly clock: Clock
  readonly log: Log
  readonly texts: SyncTexts
  /** What was observed within this time is believed; a wrong belief is answered with 412. */
  readonly freshMs: number
  /** Another data plane, ready, holds the document. */
  readonly isElsewhere: (id: string) => boolean
  /** Lists live: true when what the cache lacks is really gone. The next selection knows of it. */
  readonly confirmDeletes: () => Promise<boolean>
}

export interface RoundOutcome {
  readonly phase: DataPlanePhase
  /** For a person; empty where all is well. */
  readonly message: string
  /** `now`: something moved meanwhile. `poll`: at a change or the next poll. `back_off`: it failed. */
  readonly next: 'now' | 'poll' | 'back_off'
}

/** What is remembered of one data plane from round to round. */
export class PlaneMemory {
  readonly dataPlane: DataPlane
  readonly client: ManagementClient
  held: Held | undefined
  etag: string | undefined
  observedAtMs = -Infinity
  readonly rejections = new Rejections()
  readonly guard = new MassDeleteGuard()
  /** What was put last under each id: tells the claims that it holds. */
  readonly pushed = new Map<string, DesiredDocument>()

  constructor(dataPlane: DataPlane, client: ManagementClient) {
    this.dataPlane = dataPlane
    this.client = client
  }

  /** What we believe may be wrong: the next round reads the whole state. */
  doubt(): void {
    this.etag = undefined
    this.observedAtMs = -Infinity
  }
}

export const failed = (message: string): RoundOutcome => ({
  phase: 'unreachable',
  message,
  next: 'back_off',
})
