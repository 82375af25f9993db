// Defines what all parts of the bridge need from outside: the function that opens links, the log, the random source,
// and the times. It holds no state.

import { randomBytes } from 'node:crypto'
import type { Log } from '../../../telemetry/log.ts'
import type { DurableKind } from './wamp-client.ts'
import type { OpenLink } from '../session/joined-session.ts'

/** All in milliseconds. */
export interface BridgeTimes {
  /** A topic without followers keeps its router subscription for so long, as a page may be reloaded. */
  readonly lingerMs: number
  /** New links have so long to join before they replace the old ones even so. */
  readonly handoverMs: number
  /** An idle link stays open for so long after it was replaced, for publications and responses in transit. */
  readonly settleMs: number
  /** A link that is still in use is closed at the latest so long after it was replaced. */
  readonly drainMs: number
  /** The longest wait for the router to acknowledge a subscription or registration. */
  readonly acknowledgeMs: number
  /** The longest back-off before a subscription or registration that was rejected is sent again. */
  readonly retryLongestMs: number
  readonly closeMs: number
}

export const BRIDGE_TIMES: BridgeTimes = {
  lingerMs: 1000,
  handoverMs: 3000,
  settleMs: 500,
  drainMs: 30_000,
  acknowledgeMs: 10_000,
  retryLongestMs: 30_000,
  closeMs: 2000,
}

export interface BridgeOptions {
  readonly openLink: OpenLink
  readonly log: Log
  /** `status()` has changed; called at most once a tick. */
  readonly onStatus: () => void
  /** Has the other processes of the gateway release a registration or subscription; false: none has it. */
  readonly releaseElsewhere: (realmUri: string, kind: DurableKind, id: number) => Promise<boolean>
  /** 0 ≤ random < 1; from the system's secure source when left out, so that ids can't be guessed. */
  readonly random?: () => number
  readonly times?: Partial<BridgeTimes>
}

/** What the parts of one bridge share. */
export interface BridgeSetup {
  readonly openLink: OpenLink
  readonly log: Log
  readonly random: () => number
  readonly times: BridgeTimes
  /** Something that `status()` shows has changed. */
  readonly noteStatus: () => void
}

/** 53 bits, as many as a whole number can have. */
export const secureRandom = (): number => Number(randomBytes(8).readBigUInt64BE() >> 11n) / 2 ** 53
