// Reads a request body within its limits: bytes, and one deadline for the whole. Decodes nothing.

import type { IncomingMessage } from 'node:http'
import type { BodyLimits } from '../../spec/compiled.ts'
import { bodyDeadlines, startBodyDeadline } from '../body-deadlines.ts'
import { GatewayError } from '../gateway-error.ts'
import type { RequestHead } from './request-head.ts'

/** `gone`: nobody waits for an answer any more. */
type Done = (outcome: Error | 'gone' | undefined, bytes: Buffer, length: number) => void

export interface BodyPolicy {
  readonly limits: BodyLimits
  /** false: bytes are counted and dropped. */
  readonly keep: boolean
}

const NOTHING = Buffer.alloc(0)

/** Refuses a declared length over the limit before a byte of it comes. */
export const checkDeclaredLength = (head: RequestHead, limits: BodyLimits): void => {
  if (head.contentLength > limits.maxBytes) throw tooLarge(limits)
}

/**
 * Collects the body, or counts it.
 * `done` gets `payload_too_large`, `request_timeout`, or `gone` when the client goes away.
 */
export const readBody = (
  request: IncomingMessage,
  { limits, keep }: BodyPolicy,
  done: Done,
): void => {
  const chunks: Buffer[] = []
  let length = 0

  const finish = (outcome: Error | 'gone' | undefined): void => {
    cancel()
    done(outcome, outcome === undefined && keep ? join(chunks, length) : NOTHING, length)
  }
  const onData = (chunk: Buffer): void => {
    length += chunk.length
    if (length > limits.maxBytes) finish(tooLarge(limits))
    else if (keep) chunks.push(chunk)
  }
  const onEnd = (): void => {
    finish(undefined)
  }
  const onClose = (): void => {
    finish('gone')
  }
  const cancel = (): void => {
    bodyDeadlines.remove(deadline)
    request.off('data', onData)
    request.off('end', onEnd)
    request.off('close', onClose)
  }
  const deadline = startBodyDeadline(limits.readMs, () => {
    finish(tooSlow(limits))
  })
  request.on('data', onData)
  request.on('end', onEnd)
  request.on('close', onClose)
}

const join = (chunks: readonly Buffer[], length: number): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length)

/** The rest of the body will not be read: the connection can't be used for another request. */
const tooLarge = (limits: BodyLimits): GatewayError =>
  new GatewayError(
    'svc.error.payload_too_large',
    `The body is larger than the ${limits.maxBytes} bytes that are taken here`,
    { headers: { connection: 'close' } },
  )

const tooSlow = (limits: BodyLimits): GatewayError =>
  new GatewayError(
    'svc.error.request_timeout',
    `The body did not arrive within ${limits.readMs} ms`,
    { headers: { connection: 'close' } },
  )
