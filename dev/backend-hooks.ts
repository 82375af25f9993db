// Handles callbacks of the gateway (`POST /hooks/…`), as the procedures of the examples. Requests that are not signed
// with the secret of the examples' realm are rejected, because anyone who can reach a webhook may post to it.

import { parseJson } from '../base/parse-json.ts'
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Asked, Reply } from './backend-reply.ts'

/** `callback_secret` of the examples' realm; a real one would only be kept in a Secret. */
const SECRET = 'tell-nobody'

/** Older posts may be replays of a recording. */
const LONGEST_AGE_SECONDS = 300

/** An invocation is `{args, kwargs, details}`; the response is the result for the caller. */
export const answerHook = ({ request, rest, body }: Asked): Reply => {
  if (!isGenuine(request.headers, body, Date.now() / 1000)) {
    return { status: 401, json: { error_uri: 'com.example.error.bad_signature' } }
  }
  const { args, kwargs } = parseJson(body.toString()) as Invocation
  const name = kwargs['name'] ?? args[0]
  if (typeof name !== 'string') {
    const json = { error_uri: 'com.example.error.no_name', args: ['whom to greet?'] }
    return { status: 422, json }
  }
  return { status: 200, json: { args: [`Hello ${name}`], kwargs: { hook: rest[0] } } }
}

interface Invocation {
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
}

/** `x-svc-signature: t=<unix seconds>,v1=<HMAC-SHA256 in hex of "<t>." and the body>`. */
export const isGenuine = (
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowSeconds: number,
): boolean => {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(String(headers['x-svc-signature']))
  if (match === null) return false
  const [, time = '', signature = ''] = match
  const digest = createHmac('sha256', SECRET).update(`${time}.`).update(body).digest()
  const isFresh = Math.abs(nowSeconds - Number(time)) <= LONGEST_AGE_SECONDS
  return isFresh && timingSafeEqual(digest, Buffer.from(signature, 'hex'))
}
