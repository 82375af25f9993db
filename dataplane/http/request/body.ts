// Reads a request body within its limits: bytes, and one deadline for the whole. It decodes nothing.

import type { IncomingMessage } from 'node:http'
import type { BodyLimits } from '../../../language/compile/compiled.ts'
import { BodyWatch, type SlowBody } from '../../body-watch.ts'
import { GatewayError, type GatewayErrorOptions } from '../../gateway-error.ts'
import { BELOW_LEAST_RATE, type IsScarce, NEVER_SCARCE } from '../../least-rate.ts'
import { ByteCollector } from '../../memory/byte-collector.ts'
import type { Holding } from '../../memory/memory-budget.ts'
import type { RequestHead } from './head.ts'
import { noMemoryToRead } from '../../memory/no-memory.ts'

/** `gone`: the client has disconnected. */
export type Done = (result: Error | 'gone' | undefined, bytes: Buffer, length: number) => void

export interface BodyPolicy {
  readonly limits: BodyLimits
  /** `Content-Length`; NaN without one. */
  readonly declaredLength: number
  /** Charged for the bytes; undefined: they are counted and dropped. */
  readonly holding: Holding | undefined
  /** A body below the least rate is rejected while this returns true. */
  readonly isScarce?: IsScarce | undefined
}

const NOTHING = Buffer.alloc(0)

/** The error for a declared length over the limit, before a byte of it is read. */
export const checkDeclaredLength = (
  head: Pick<RequestHead, 'contentLength'>,
  limits: BodyLimits,
): GatewayError | undefined => (head.contentLength > limits.maxBytes ? tooLarge(limits) : undefined)

/**
 * Collects the body, or counts it. `done` gets `payload_too_large`, `request_timeout`, `overloaded` if there is no
 * memory for it, or `gone` if the client disconnects.
 */
export const readBody = (
  request: IncomingMessage,
  { limits, declaredLength, holding, isScarce = NEVER_SCARCE }: BodyPolicy,
  done: Done,
): void => {
  const body = new ByteCollector()
  let length = 0

  const finish = (result: Error | 'gone' | undefined): void => {
    cancel()
    done(result, result === undefined ? body.join() : NOTHING, length)
  }
  const onData = (chunk: Buffer): void => {
    length += chunk.length
    watch.received(chunk.length)
    if (length > limits.maxBytes) finish(tooLarge(limits))
    else if (holding !== undefined) {
      if (holding.reserve(chunk.length)) body.add(chunk)
      else finish(noMemoryToRead())
    }
  }
  const onEnd = (): void => {
    finish(undefined)
  }
  const onClose = (): void => {
    finish('gone')
  }
  const cancel = (): void => {
    watch.stop()
    request.off('data', onData)
    request.off('end', onEnd)
    request.off('close', onClose)
  }
  if (holding?.hasRoomFor(declaredLength || 0) === false) {
    done(noMemoryToRead(), NOTHING, 0)
    return
  }
  const limitMs = holding?.isTight === true ? limits.readMs / 2 : limits.readMs
  const watch = new BodyWatch({
    bounds: 'whole',
    limitMs,
    isScarce,
    onSlow: (slow) => {
      finish(tooSlow(limitMs, slow))
    },
  })
  watch.start()
  request.on('data', onData)
  request.on('end', onEnd)
  request.on('close', onClose)
}

const CLOSE = { connection: 'close' }

/** The rest of the body will not be read, so the connection cannot be used for another request. */
export const tooLarge = (
  limits: BodyLimits,
  headers: GatewayErrorOptions['headers'] = CLOSE,
): GatewayError =>
  new GatewayError(
    'svc.error.payload_too_large',
    `The body is larger than the ${limits.maxBytes} bytes that are accepted here`,
    { headers },
  )

const tooSlow = (limitMs: number, slow: SlowBody): GatewayError =>
  new GatewayError(
    'svc.error.request_timeout',
    slow === 'rate' ? BELOW_LEAST_RATE : `The body did not arrive within ${limitMs} ms`,
    { headers: { connection: 'close' } },
  )
