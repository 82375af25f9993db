// The socket of a client that waits for its upgrade in: what it sends meanwhile out, and word when it goes, which
// only who reads hears. Bounded; it writes nothing.

import type { Duplex } from 'node:stream'

export interface EarlyBytes {
  /** It has ended its half or is gone: nobody upgrades who says nothing more. */
  readonly hasGone: boolean
  /** What has come so far; nothing is read any more. To be called once. */
  take(): Buffer
}

/** A client waits for its answer before it speaks (RFC 6455 §4.1): more than this is not read ahead. */
const MAX_BYTES = 16 * 1024

/** @param head came behind the request */
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
