// Reads what a client sends while it waits for its upgrade, and notices when it disconnects, which only a reader can.
// It is bounded and writes nothing.

import type { Duplex } from 'node:stream'

export interface EarlyBytes {
  /** The client has ended its half or disconnected, and is not upgraded any more. */
  readonly hasGone: boolean
  /** Returns what has arrived so far and stops reading. Call it once. */
  take(): Buffer
}

/** A client waits for the response before it sends frames (RFC 6455 §4.1): more than this is not read ahead. */
const MAX_BYTES = 16 * 1024

/** @param head the bytes that came behind the request */
export const readEarly = (socket: Duplex, head: Buffer, onGone: () => void): EarlyBytes => {
  const chunks = [head]
  let bytes = head.length
  let hasGone = false
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_BYTES) socket.pause()
  }
  const onEnd = (): void => {
    hasGone = true
    onGone()
  }
  socket.on('data', onData).once('end', onEnd).once('close', onEnd)
  return {
    get hasGone() {
      return hasGone
    },
    take: () => {
      socket.pause()
      socket.removeListener('data', onData).removeListener('end', onEnd)
      socket.removeListener('close', onEnd)
      return Buffer.concat(chunks, bytes)
    },
  }
}
