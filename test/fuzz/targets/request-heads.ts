// Bytes of a client go to a whole gateway, which forwards what it takes for requests: each of those must be one by the
// letter of RFC 9112, with the same method, target and body, and answered to its sender.

import type { Socket } from 'node:net'
import { BrokenError } from '../../support/byte-stream.ts'
import { headerValues, type RawClient, type RawResponse } from '../../support/raw-client.ts'
import type { Checker, FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'
import { readRequests, type StrictReading, type StrictRequest, valuesOf } from '../strict-http.ts'
import { serveForwards, type ServedForwards } from './served-forwards.ts'

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

const request = (line: string, headers: readonly string[] = [], body = ''): Buffer =>
  bytes(`${[`${line} HTTP/1.1`, 'Host: a.test', ...headers].join('\r\n')}\r\n\r\n${body}`)

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n'
const CHUNKED = 'Transfer-Encoding: chunked'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

const SEEDS = [
  request('GET /a?b=c'),
  request('HEAD /a'),
  request('GET /strip/a%2Fb/c%20d/?e=f'),
  request('GET /%73trip/strip/;x//..%2f?'),
  request('DELETE /a/b%2Fc;d', ['X-Forwarded-For: 1.2.3.4', 'Cookie: a=b']),
  request('POST /p', ['Content-Type: application/json', 'Content-Length: 7'], '{"a":1}'),
  request('POST /p', ['Content-Type: text/plain', `Content-Length: ${HIDDEN.length}`], HIDDEN),
  request('PUT /p', [CHUNKED], `${chunk('hello')}${chunk(HIDDEN)}0\r\n\r\n`),
  request('PUT /p', [CHUNKED, 'Trailer: X-T'], `5;ext="x"\r\nhello\r\n0\r\nX-T: 1\r\n\r\n`),
  request('POST /read', ['Content-Type: application/json', 'Content-Length: 2'], '42'),
  request('POST /p', ['Expect: 100-continue', 'Content-Length: 2'], 'ok'),
  request('GET http://b.test/abs', ['Connection: keep-alive, X-Y', 'X-Y: 1']),
  request('OPTIONS *'),
  request('GET /u', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']),
  request('CONNECT a.test:443'),
  bytes('GET /old HTTP/1.0\r\n\r\n'),
  Buffer.concat([
    request('POST /1', ['Content-Length: 1'], 'x'),
    request('GET /2'),
    request('GET /3'),
  ]),
  request(
    'GET /many',
    Array.from({ length: 127 }, (_, index) => `X-${index}: y`),
  ),
]

const TOKENS = [
  '\r\n',
  '\r',
  '\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  '\0',
  '\x0b',
  ';',
  ',',
  '\xff',
  '\r\n ',
  'GET ',
  'POST ',
  'HEAD ',
  'CONNECT ',
  'PRI ',
  ' HTTP/1.1',
  ' HTTP/1.0',
  ' HTTP/2.0',
  'HTTP/0.9',
  'Host: a\r\n',
  'Host:\r\n',
  'host : a\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 5\r\n',
  'Content-Length : 5\r\n',
  'Content-Length: +5\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length: 0x5\r\n',
  'Content_Length: 5\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Connection: content-length\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding: x\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding: chunked, x\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'TE: trailers\r\n',
  'Expect: 100-continue\r\n',
  'Expect: x\r\n',
  '0\r\n\r\n',
  '5\r\n',
  'ffffffffffffffff\r\n',
  '5;a=b\r\n',
  ' 5\r\n',
  '5 \r\n',
  '0x5\r\n',
  HIDDEN,
  'http://b.test',
  'x://b.test',
  '/../',
  '/%2e%2e/',
  '%00',
  '\\',
  '//',
  '?',
  '#',
  '*',
  '@',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'Upgrade: h2c\r\n',
  'X: y\r\n'.repeat(130),
]

/** What a gateway takes. */
const MAX_HEADER_LINES = 128

/** Requests of as many cases are remembered: what reaches the upstream late belongs to one of them. */
const REMEMBERED_CASES = 3

class Conversations implements Checker {
  readonly #served: ServedForwards
  readonly #upstream: StrictUpstream
  /** What clients sent, and the upstream was not sent. */
  readonly #unseen: StrictRequest[][] = []

  constructor(served: ServedForwards, upstream: StrictUpstream) {
    this.#served = served
    this.#upstream = upstream
  }

  async check(input: Buffer): Promise<string> {
    const reading = readRequests(Buffer.concat([input, LAST]), MAX_HEADER_LINES)
    this.#upstream.begin()
    const responses = await this.#converse(input, reading)
    await this.#expectServing()
    this.#checkUpstream(reading)
    checkResponses(responses, reading, this.#upstream.seen)
    const faults = this.#served.unexpected()
    if (faults.length > 0) throw new Error(`the gateway did not expect this: ${faults.join('')}`)
    return `${reading.end} ${reading.why} ${responses.map(({ status }) => status).join(' ')}`
  }

  close(): Promise<void> {
    return this.#served.close()
  }

  async #converse(input: Buffer, reading: StrictReading): Promise<readonly RawResponse[]> {
    await using client = await this.#served.connect()
    client.send([input, LAST])
    const responses: RawResponse[] = []
    for (const { method } of reading.requests) {
      const response = await nextResponse(client, method === 'HEAD')
      if (response === undefined) return responses
      responses.push(response)
    }
    // For what is incomplete a response would come when time is up: the client goes away instead.
    if (reading.end === 'incomplete' || reading.end === 'between') return responses
    const refusal = await nextResponse(client, false)
    if (refusal === undefined) return responses
    if (await nextResponse(client, false)) throw new Error('answers after the last one')
    return [...responses, refusal]
  }

  async #expectServing(): Promise<void> {
    await using client = await this.#served.connect()
    client.send([LAST])
    const { status, body } = await client.response()
    if (status !== 200 || body.toString() !== '"fine"')
      throw new Error(`the next client gets ${status} ${body.toString().slice(0, 200)}`)
  }

  #checkUpstream({ requests }: StrictReading): void {
    const { fault, seen } = this.#upstream
    if (fault !== undefined) throw new Error(`the upstream is sent what is no request: ${fault}`)
    this.#unseen.unshift([...requests])
    this.#unseen.splice(REMEMBERED_CASES)
    for (const each of seen) {
      if (valuesOf(each, 'host').length !== 1 || valuesOf(each, 'x-request-id').length !== 1)
        throw new Error(`the upstream is sent several hosts or ids: ${keyOf(each)}`)
      if (!this.#unseen.some((sent) => takeOne(sent, each)))
        throw new Error(`no client sent what is forwarded, or not so often: ${keyOf(each)}`)
    }
  }
}

const LAST = request('GET /fine', ['Connection: close'])

/** Undefined at the end of the connection. */
const nextResponse = async (
  client: RawClient,
  isHead: boolean,
): Promise<RawResponse | undefined> => {
  try {
    return await client.response(isHead)
  } catch (error) {
    if (error instanceof BrokenError && error.message.startsWith('connection closed'))
      return undefined
    throw error
  }
}

/** What the upstream answered belongs to the request that it answers; what can't be read is refused. */
const checkResponses = (
  responses: readonly RawResponse[],
  { requests, why }: StrictReading,
  seen: readonly StrictRequest[],
): void => {
  for (const [index, response] of responses.entries()) {
    const [ordinal] = headerValues(response, 'x-ordinal')
    if (ordinal === undefined && response.status >= 500)
      throw new Error(`a response of the gateway's own has status ${response.status}`)
    if (ordinal === undefined) continue
    const [asked, got] = [requests[index], seen[Number(ordinal)]]
    if (asked === undefined)
      throw new Error(`taken for a request, and forwarded, in spite of: ${why}`)
    if (got === undefined || !isSame(asked, got))
      throw new Error(
        `${keyOf(asked)} gets the response to ${got === undefined ? '?' : keyOf(got)}`,
      )
  }
}

/** Takes it out of what was sent; false where it is not in there. */
const takeOne = (sent: StrictRequest[], seen: StrictRequest): boolean => {
  const index = sent.findIndex((one) => isSame(one, seen))
  if (index >= 0) sent.splice(index, 1)
  return index >= 0
}

const isSame = (client: StrictRequest, upstream: StrictRequest): boolean =>
  keyOf({ ...client, target: strippedOf(client) }) === keyOf(upstream) ||
  // Its body is written anew, by the document.
  (lettersOf(client.target) === '/read' &&
    keyOf({ ...client, body: upstream.body }) === keyOf(upstream))

/** Without the prefix that the document takes off. */
const strippedOf = ({ method, target }: StrictRequest): string => {
  const sent = forwardedOf(target)
  const [prefix = '', first = ''] = /^\/([^/?]*)\/?/.exec(sent) ?? []
  const isStripped =
    /^(?:GET|HEAD)$/.test(method) && first.replaceAll(ESCAPE, decodeURIComponent) === 'strip'
  return isStripped ? `/${sent.slice(prefix.length)}` : sent
}

/** Of ASCII. */
const ESCAPE = /%[2-7][0-9a-f]/gi

const keyOf = ({ method, target, body }: StrictRequest): string =>
  JSON.stringify([method, forwardedOf(target), body.toString('latin1')])

/** Path and query, byte for byte, but for what would begin a fragment. */
const forwardedOf = (target: string): string =>
  target
    .replace(/^[^/][^]*?:\/\/[^/?]*/, '')
    .replace(/^(?!\/)/, '/')
    .replaceAll('#', '%23')

/** Letters, digits and slashes of the path and query. */
const lettersOf = (target: string): string =>
  forwardedOf(target).replace(/%[0-9a-f]{2}|[^a-z0-9/]/gi, '')

/** Takes each connection for what its bytes say, and answers with the number of the request. */
class StrictUpstream {
  seen: StrictRequest[] = []
  fault: string | undefined

  begin(): void {
    this.seen = []
    this.fault = undefined
  }

  readonly serve = (socket: Socket): void => {
    let held = Buffer.alloc(0)
    socket.on('data', (data: Buffer) => {
      held = Buffer.concat([held, data])
      const { requests, end, why, readBytes } = readRequests(held)
      if (end === 'invalid') this.fault = `${why} ${JSON.stringify(held.toString('latin1'))}`
      held = held.subarray(readBytes)
      for (const each of requests) socket.write(this.#answer(each))
    })
    socket.on('end', () => socket.end())
  }

  #answer(asked: StrictRequest): string {
    const ordinal = this.seen.push(asked) - 1
    const head = `HTTP/1.1 200 OK\r\nX-Ordinal: ${ordinal}\r\nContent-Length: 2\r\n\r\n`
    return asked.method === 'HEAD' ? head : `${head}ok`
  }
}

const forwardsTo = (host: string): object => {
  const forward = { action: { type: 'forward', host } }
  const all = { get: forward, post: forward, put: forward, delete: forward, patch: forward }
  return {
    '/fine': { get: { action: { type: 'static', body: 'fine' }, response: {} } },
    '/read': { post: { action: { type: 'forward', host, body: '{{request.body}}' } } },
    '/strip/[...rest]': {
      get: { action: { ...forward.action, path: '/{{request.bindings.rest}}' } },
    },
    '/[...]': { ...all, options: forward },
  }
}

export const requestHeads: FuzzTarget = {
  name: 'request-heads',
  seeds: SEEDS,
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: TOKENS }),
  open: async () => {
    const upstream = new StrictUpstream()
    return new Conversations(await serveForwards(forwardsTo, upstream.serve), upstream)
  },
}
