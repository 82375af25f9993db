// Defines what all parts of the bridge need from outside: the function that opens links, the log, the random source,
// and the times. It holds no state.

import { randomBytes } from 'node:crypto'
import type { Log } from '../../../telemetry/log.ts'
import type { DurableKind } from './wamp-client.ts'
import type { OpenLink } from '../session/joined-session.ts'

/** All in milliseconds. */
export interface BridgeTimes {
  /** A topic without followers keeps its router subscription: a page is reloaded. */
  readonly lingerMs: number
  /** New links are given so long to join before they replace the old ones all the same. */
  readonly handoverMs: number
  /** An idle link is kept so long after it was replaced: publications and answers on their way. */
  readonly settleMs: number
  /** A link that is still in use is closed at the latest so long after it was replaced. */
  readonly drainMs: number
  /** Subscriptions and registrations that the router does not answer. */
  readonly acknowledgeMs: number
  /** Longest pause before something that is held and was refused is asked for again. */
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
  /** `status()` would give something else; at most once a tick. */
  readonly onStatus: () => void
  /** Asks the other processes of the gateway to release what they hold; false: none did. */
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
