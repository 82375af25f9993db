// Detects a silent peer: it polls how many bytes have been received, sends a ping after a while without any, and
// reports the peer as silent after a longer one. It costs nothing per message, and reads no clock.

export interface WatchedConnection {
  /** Grows with whatever the peer sends. */
  bytesRead(): number
  ping(): void
  onSilent(): void
}

/** Calls back every `ms` milliseconds; the result stops it. */
export type Every = (ms: number, callback: () => void) => () => void

/** Does not keep the process alive. */
const systemEvery: Every = (ms, callback) => {
  // Timers of one duration share one of the event loop's.
  const timer = setInterval(callback, ms).unref()
  return () => {
    clearInterval(timer)
  }
}

/** Into how many parts the time of silence is divided: the end comes after 15 to 16 of them. */
const PARTS = 16

/**
 * Counts its own checks, not wall time: after the event loop was blocked, a peer whose bytes have long arrived does not
 * count as silent.
 *
 * @returns what stops it
 * @example
 * const stop = watchSilence(10_000, { bytesRead: () => socket.bytesRead, ping, onSilent })
 */
export const watchSilence = (
  keepaliveMs: number,
  peer: WatchedConnection,
  every = systemEvery,
): (() => void) => {
  let read = peer.bytesRead()
  let quiet = 0
  const check = (): void => {
    const now = peer.bytesRead()
    if (now !== read) {
      read = now
      quiet = 0
      return
    }
    quiet++
    if (quiet === PARTS / 2 - 1) peer.ping()
    else if (quiet === PARTS - 1) peer.onSilent()
  }
  return every(keepaliveMs / PARTS, check)
}
