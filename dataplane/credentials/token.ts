// Decides how long a token of an authorization server is used, from what the server says, within bounds of our own.

/** Times are Unix times in milliseconds. */
export interface UpstreamToken {
  readonly value: string
  /** When it was asked for. */
  readonly sinceMs: number
  /** From then on another one is asked for, while this one is used. */
  readonly refreshMs: number
  /** From then on it is not used. */
  readonly endMs: number
}

/** RFC 6749 §5.1 leaves it open how long a token without `expires_in` lives. */
const UNSAID_SECONDS = 300
/** One that would end at once would be asked for at every request. */
const LEAST_SECONDS = 10
const MOST_SECONDS = 86_400

/** The share of its life after which it is refreshed: between these, so that replicas do not do it together. */
const REFRESH_FROM = 0.7
const REFRESH_TO = 0.8
/** It must reach the upstream before it ends there. */
const MARGIN_SHARE = 0.1
const MARGIN_MOST_MS = 30_000

/**
 * @param expiresIn seconds, as the server said
 * @param sinceMs before it was asked for: the server counts from some time after that
 * @param random 0 ≤ random < 1
 */
export const createToken = (
  value: string,
  expiresIn: number | undefined,
  { sinceMs, random }: { readonly sinceMs: number; readonly random: number },
): UpstreamToken => {
  const said = expiresIn === undefined || Number.isNaN(expiresIn) ? UNSAID_SECONDS : expiresIn
  const lifeMs = Math.min(Math.max(said, LEAST_SECONDS), MOST_SECONDS) * 1000
  return {
    value,
    sinceMs,
    refreshMs: sinceMs + lifeMs * (REFRESH_FROM + random * (REFRESH_TO - REFRESH_FROM)),
    endMs: sinceMs + lifeMs - Math.min(lifeMs * MARGIN_SHARE, MARGIN_MOST_MS),
  }
}

/** Whether what another process has stored may be used: its clock may be another one. */
export const isUsableAt = ({ sinceMs, endMs }: UpstreamToken, nowMs: number): boolean =>
  nowMs < endMs && endMs - nowMs <= MOST_SECONDS * 1000 && sinceMs < endMs
