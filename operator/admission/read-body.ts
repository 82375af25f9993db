// Reads the body of a request, or says why it is rejected. Bounded: each body by itself and all of them together.

import type { IncomingMessage } from 'node:http'

export interface BodyLimits {
  /** The most of one body; 8 MiB: an object and its old version, of at most 3 MiB each, with room. */
  readonly maxBytes: number
  /** The most of all bodies that are being read. */
  readonly maxTotalBytes: number
}

export const BODY_LIMITS: BodyLimits = {
  maxBytes: 8 * 1024 * 1024,
  maxTotalBytes: 32 * 1024 * 1024,
}

export type ReadBody =
  | { readonly result: 'body'; readonly bytes: Buffer }
  | { readonly result: 'too_large' | 'overloaded' | 'gone' }

/**
 * This many times the limit is read and dropped of a body beyond it, so that the client gets to read the
 * response.
 */
const DROPPED_MAX = 4

export class BodyReader {
  readonly #limits: BodyLimits
  #totalBytes = 0

  constructor(limits: BodyLimits = BODY_LIMITS) {
    this.#limits = limits
  }

  /** Never rejects. */
  async read(request: IncomingMessage): Promise<ReadBody> {
    const { maxBytes, maxTotalBytes } = this.#limits
    const chunks: Buffer[] = []
    let length = 0
    let result: 'body' | 'too_large' | 'overloaded' = 'body'
    let held = 0
    const release = (): void => {
      this.#totalBytes -= held
      held = 0
      chunks.length = 0
    }
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length
        if (length > maxBytes * DROPPED_MAX) break
        if (result !== 'body') continue
        if (length > maxBytes) result = 'too_large'
        else if (this.#totalBytes + chunk.length > maxTotalBytes) result = 'overloaded'
        if (result === 'body') {
          chunks.push(chunk)
          held += chunk.length
          this.#totalBytes += chunk.length
        } else release()
      }
      return result === 'body' ? { result, bytes: Buffer.concat(chunks, length) } : { result }
    } catch {
      return { result: 'gone' }
    } finally {
      release()
    }
  }
}
