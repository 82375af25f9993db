// Reads the JSON body of a request, plain or gzip, within bounds of size, time and memory of all bodies together.

import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import type { Limiter } from '../../base/limiter.ts'
import { invalidData, ManagementError, overloaded } from './management-error.ts'
import { JsonBody, type JsonBounds, tooLarge } from './json-body.ts'

export interface BodyTimes {
  /** Longest pause between two chunks. */
  readonly idleMs: number
  /** From the first byte to the last. */
  readonly totalMs: number
  /** How long the rest of a rejected body is read, so that its sender sees the response and not a reset. */
  readonly lingerMs: number
}

export const BODY_TIMES: BodyTimes = { idleMs: 15_000, totalMs: 120_000, lingerMs: 2000 }

export interface BodyReading {
  readonly bounds: JsonBounds
  readonly times: BodyTimes
  /** Bounds the bytes of all bodies that are being read and processed. */
  readonly budget: Limiter
}

/**
 * Reads the body and passes its value to `use`, undefined if it is empty; its share of the budget is released when that has ended.
 * Rejects with a ManagementError: 400, 408, 413, 415, 503.
 */
export const withJson = async <T>(
  req: IncomingMessage,
  { bounds, times, budget }: BodyReading,
  use: (value: unknown) => Promise<T>,
): Promise<T> => {
  const isGzip = checkHeaders(req, bounds)
  const body = new JsonBody(bounds)
  let taken = 0
  try {
    await readChunks(req, { isGzip, times }, (chunk) => {
      if (!budget.tryAcquire(chunk.length))
        throw overloaded('Too many bodies are being read already')
      taken += chunk.length
      body.push(chunk)
    })
    return await use(await body.read())
  } finally {
    budget.release(taken)
  }
}

/** Reads and discards the rest, until its end or for `ms`: a sender that still writes must not be reset. */
export const drain = (req: IncomingMessage, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      req.off('end', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (req.complete || req.destroyed) done()
    else req.on('end', done).on('close', done).resume()
  })

/** True: the body is gzip. A declared length above the bound is rejected unread. */
const checkHeaders = ({ headers }: IncomingMessage, { maxBytes }: JsonBounds): boolean => {
  if (!JSON_TYPES.has(mediaTypeOf(headers['content-type'])))
    throw unsupported('The body must be application/json', {})
  const encoding = mediaTypeOf(headers['content-encoding'])
  if (!Object.hasOwn(ENCODINGS, encoding))
    throw unsupported('The body may be compressed with gzip only', { 'accept-encoding': 'gzip' })
  const most = Math.max(maxBytes.map, maxBytes.list)
  if (Number(headers['content-length'] ?? 0) > most) throw tooLarge(most)
  return ENCODINGS[encoding] === true
}

const JSON_TYPES: ReadonlySet<string> = new Set(['application/json'])

/** Content coding → whether it is gzip. */
const ENCODINGS: Readonly<Record<string, boolean>> = {
  '': false,
  identity: false,
  gzip: true,
  'x-gzip': true,
}

/** The media type without parameters, in lower case; empty if there is none. */
const mediaTypeOf = (header: string | undefined): string =>
  header?.split(';', 1)[0]?.trim().toLowerCase() ?? ''

const readChunks = (
  req: IncomingMessage,
  { isGzip, times }: { readonly isGzip: boolean; readonly times: BodyTimes },
  take: (chunk: Uint8Array) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const gunzip = isGzip ? createGunzip() : undefined
    const settle = (error?: Error): void => {
      clearTimeout(idle)
      clearTimeout(total)
      req.off('close', onClose)
      source.off('data', onData).off('end', onEnd)
      if (gunzip !== undefined) req.unpipe(gunzip)
      gunzip?.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    const onData = (chunk: Buffer): void => {
      idle.refresh()
      try {
        take(chunk)
      } catch (error) {
        settle(error as ManagementError)
      }
    }
    const onEnd = (): void => {
      settle()
    }
    const onClose = (): void => {
      if (!req.complete)
        settle(invalidData('The body is incomplete: the connection ended before its end'))
    }
    const onSlow = (): void => {
      settle(new ManagementError(408, 'svc.error.request_timeout', 'The body arrived too slowly'))
    }
    const idle = setTimeout(onSlow, times.idleMs)
    const total = setTimeout(onSlow, times.totalMs)
    const source = gunzip === undefined ? req : req.pipe(gunzip)
    source.on('data', onData).on('end', onEnd)
    source.on('error', (cause: Error) => {
      settle(invalidData(isGzip ? 'The body is not gzip' : 'The body cannot be read', cause))
    })
    req.on('close', onClose)
  })

const unsupported = (message: string, headers: Readonly<Record<string, string>>): ManagementError =>
  new ManagementError(415, 'svc.error.unsupported_media_type', message, { headers })
