// Detects a silent peer: it polls how many bytes have been received, sends a ping after a while without any, and
// reports the peer as silent after a longer one. It costs nothing per message, and reads no clock.

export interface WatchedConnection {
  /** Grows with whatever the peer sends. */
  bytesRead(): number
  ping(): void
  onSilent(): void
}

/** Calls back every so many milliseconds; the result ends it. */
export type Every = (ms: number, callback: () => void) => () => void

/** Holds no process. */
const systemEvery: Every = (ms, callback) => {
  // Timers of one duration share one of the event loop's.
  const timer = setInterval(callback, ms).unref()
  return () => {
    clearInterval(timer)
  }
}

/** So finely silence is measured: an end comes after 15 to 16 parts of it. */
const PARTS = 16

/**
 * Counts its own turns, not wall time: an event loop that was blocked finds no peer dead whose bytes have long
 * arrived.
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
  const look = (): void => {
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
  return every(keepaliveMs / PARTS, look)
}
