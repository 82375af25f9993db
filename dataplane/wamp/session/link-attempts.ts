// Decides from the results of a link's attempts which address is tried next, and after which back-off. Pure.

/** Why an attempt at one address failed, or the session there ended. */
export interface LinkFailure {
  readonly url: string
  /** The router does not let the gateway join. */
  readonly isRejection: boolean
  readonly reason: string
}

export interface Attempts {
  /** Index of the address in use. */
  readonly at: number
  /** The failures of this round: every address is tried once in it. */
  readonly round: readonly LinkFailure[]
  /** Rounds without a session and sessions that ended soon, in a row. */
  readonly failures: number
  /** Rounds in a row in which every address rejected the gateway. */
  readonly rejections: number
}

/** When the next attempt is due. */
export interface AttemptBackOff {
  /** How many there were in a row, by which the wait grows. */
  readonly attempt: number
  readonly longestMs: number
}

export type AfterFailure =
  /** The next address is tried at once. */
  | { readonly kind: 'next_address'; readonly attempts: Attempts }
  /** All addresses have failed; `reported` is the failure that says most. */
  | {
      readonly kind: 'back_off'
      readonly attempts: Attempts
      readonly backOff: AttemptBackOff
      readonly reported: LinkFailure
    }

export const NO_ATTEMPTS: Attempts = { at: 0, round: [], failures: 0, rejections: 0 }

// Calls succeed within two seconds of a router's return, so no wait is longer than one …
const LONGEST_WAIT_MS = 1000
// … but a router that rejects the gateway will do so again: somebody has to change something first.
const LONGEST_WAIT_AFTER_REJECTIONS_MS = 30_000
/** A session that ends sooner does not count as a success. */
const LASTING_MS = 5000

/** @param addresses how many the link has */
export const afterFailure = (
  before: Attempts,
  failure: LinkFailure,
  addresses: number,
): AfterFailure => {
  const round = [...before.round, failure]
  const at = (before.at + 1) % addresses
  if (round.length < addresses) return { kind: 'next_address', attempts: { ...before, at, round } }
  // A rejection says more than an address that cannot be reached …
  const reported = round.find(({ isRejection }) => isRejection) ?? failure
  const failed = { ...before, at, round: [] }
  // … but as long as one address cannot be reached, it may be back at any moment.
  if (!round.every(({ isRejection }) => isRejection)) {
    const failures = before.failures + 1
    const attempts = { ...failed, failures, rejections: 0 }
    const backOff = { attempt: failures, longestMs: LONGEST_WAIT_MS }
    return { kind: 'back_off', attempts, backOff, reported }
  }
  const rejections = before.rejections + 1
  const backOff = { attempt: rejections, longestMs: LONGEST_WAIT_AFTER_REJECTIONS_MS }
  return { kind: 'back_off', attempts: { ...failed, rejections }, backOff, reported }
}

export const afterJoin = (before: Attempts): Attempts => ({ ...before, round: [], rejections: 0 })

/** The address stays the same: the router that had the session is tried first. */
export const afterLoss = (
  before: Attempts,
  sessionMs: number,
): { readonly attempts: Attempts; readonly backOff: AttemptBackOff } => {
  const failures = sessionMs >= LASTING_MS ? 1 : before.failures + 1
  return {
    attempts: { ...before, failures },
    backOff: { attempt: failures, longestMs: LONGEST_WAIT_MS },
  }
}
