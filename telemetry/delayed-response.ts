// Delays the response to a probe while a program starts, as long as the probe allows (`?wait=SECONDS`): for Kubernetes
// each failed probe is a Warning Event, though nothing is wrong.

/** The longest that a response is delayed, whatever the probe asks for. */
const LONGEST_WAIT_SECONDS = 60
/** The state changes with time as well as with events, so it is polled. */
const LOOK_MS = 50

export interface DelayedResponse {
  /** Path and query of the request. */
  readonly url: string
  /** Whether the response would not be a success now. */
  readonly isPending: () => boolean | Promise<boolean>
  /** Whether the client has gone. */
  readonly isGone: () => boolean
  /** Calls back after `ms`. */
  readonly after?: (ms: number, callback: () => void) => unknown
}

/**
 * Resolves when it is no longer pending, when the time that the request gives is over, or when the client has gone;
 * at once where the request gives none.
 * @example await untilAnswerable({ url: '/ready?wait=4', isPending, isGone: () => response.destroyed })
 */
export const untilAnswerable = async ({
  url,
  isPending,
  isGone,
  after = afterReally,
}: DelayedResponse): Promise<void> => {
  let leftMs = waitSecondsOf(url) * 1000
  while (leftMs > 0 && !isGone() && (await isPending())) {
    await new Promise<void>((resolve) => after(LOOK_MS, resolve))
    leftMs -= LOOK_MS
  }
}

/** 0 where it is absent or no whole number. */
const waitSecondsOf = (url: string): number => {
  const wait = new URLSearchParams(url.split('?')[1] ?? '').get('wait') ?? ''
  return /^\d{1,3}$/.test(wait) ? Math.min(Number(wait), LONGEST_WAIT_SECONDS) : 0
}

const afterReally = (ms: number, callback: () => void): unknown => setTimeout(callback, ms)
