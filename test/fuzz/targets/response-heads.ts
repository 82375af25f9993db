// Bytes of an upstream are the response to a forwarded request: the client gets a well-formed response or none, and the next
// one on its connection, which comes from the same upstream, is the right one, or the connection is closed.

import type { Socket } from 'node:net'
import { BrokenError } from '../../support/byte-stream.ts'
import type { RawClient, RawResponse } from '../../support/raw-client.ts'
import type { Checker, FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'
import { readRequests } from '../strict-http.ts'
import { serveForwards, type ServedForwards } from './served-forwards.ts'

/** How the first byte of an input is read: what asks for the response, and how the upstream sends it. */
interface Way {
  readonly method: 'GET' | 'HEAD'
  readonly path: string
  /** The upstream hangs up after it; else it waits for what comes. */
  readonly isLast: boolean
  /** In two pieces. */
  readonly isSplit: boolean
}

const PATHS = ['/pass', '/read', '/headers', '/pass']

const wayOf = (byte: number): Way => ({
  method: (byte & 1) === 0 ? 'GET' : 'HEAD',
  path: PATHS[(byte >> 1) & 3] ?? '/pass',
  isLast: ((byte >> 3) & 3) !== 0,
  isSplit: ((byte >> 5) & 1) !== 0,
})

const response = (line: string, headers: readonly string[] = [], body = ''): string =>
  `${[`HTTP/1.1 ${line}`, ...headers].join('\r\n')}\r\n\r\n${body}`

const CHUNKED = 'Transfer-Encoding: chunked'
const NEXT = response('200 OK', ['Content-Length: 6', 'X-Smuggled: yes'], 'hidden')

export const RESPONSES = [
  response('200 OK', ['Content-Length: 5', 'Content-Type: text/plain'], 'hello'),
  response('200 OK', ['Content-Type: application/json'], '{"a":[1,"x"]}'),
  response('200 OK', [CHUNKED], '5\r\nhello\r\n3;e=1\r\n123\r\n0\r\nX-T: 1\r\n\r\n'),
  response('200 OK', [`Content-Length: ${NEXT.length}`], NEXT),
  response('204 No Content'),
  response('304 Not Modified', ['ETag: "x"', 'Content-Length: 700']),
  response('301 Moved', ['Location: /b', 'Content-Length: 0', 'Connection: close']),
  response('404 Not Found', ['Content-Type: application/json', 'Content-Length: 2'], '{}'),
  response(
    '503 Away',
    ['Retry-After: 1', 'Set-Cookie: a=b', 'Set-Cookie: c=d', CHUNKED],
    '0\r\n\r\n',
  ),
  response('100 Continue') + response('200 OK', ['Content-Length: 2'], 'ok'),
  response('103 Early Hints', ['Link: </a>']) + response('200 OK', ['Content-Length: 2'], 'ok'),
  response('101 Switching', ['Connection: upgrade', 'Upgrade: x']),
  response('200 OK', ['Content-Type: text/event-stream'], 'data: 1\n\ndata: 2\n\n'),
  response('206 Partial', ['Content-Range: bytes 0-1/9', 'Content-Length: 2'], 'ab'),
  'HTTP/1.0 200 OK\r\n\r\nold',
]

/** Each response asked for in three ways. */
const SEEDS = RESPONSES.flatMap((head, index) =>
  [0x08, 0x09, 0x2a].map((way) =>
    Buffer.from(`${String.fromCharCode(way + ((index & 1) << 2))}${head}`, 'latin1'),
  ),
)

export const TOKENS = [
  '\r\n',
  '\r',
  '\n',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  '\xff',
  '\r\n ',
  '\x7f',
  '\x0b',
  NEXT,
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 204\r\n',
  'HTTP/1.1 304 \r\n',
  'HTTP/1.1 101 \r\n',
  'HTTP/2.0 200\r\n',
  ' 100 ',
  ' 199 ',
  ' 205 ',
  ' 600 ',
  ' 999 ',
  ' 000 ',
  ' 99 ',
  ' 1000 ',
  'HTTP/1.0',
  'Content-Length: 0\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 50\r\n',
  'Content-Length: -1\r\n',
  'Content-Length : 5\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Transfer-Encoding: chunked, x\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Trailer: x\r\n',
  'Connection: close\r\n',
  'Connection: x-request-id\r\n',
  'Connection: content-length\r\n',
  'Connection: upgrade\r\nUpgrade: x\r\n',
  'Content-Encoding: gzip\r\n',
  'Content-Type: application/json\r\n',
  'Content-Type: application/msgpack\r\n',
  'X-Request-Id: 1\r\n',
  'Location: \xe9\r\n',
  'Set-Cookie: a=\x01\r\n',
  'Date: x\r\n',
  'Keep-Alive: timeout=0\r\n',
  '__proto__: x\r\n',
  '0\r\n\r\n',
  '5\r\n',
  'ffffffffffffffff\r\n',
  ' 5\r\n',
  'Content-Type: text/event-stream\r\n',
]

class Conversations implements Checker {
  readonly #served: ServedForwards
  readonly #upstream: LyingUpstream
  #cases = 0

  constructor(served: ServedForwards, upstream: LyingUpstream) {
    this.#served = served
    this.#upstream = upstream
  }

  async check(input: Buffer): Promise<string> {
    const way = wayOf(input[0] ?? 0)
    this.#upstream.response = { way, bytes: input.subarray(1) }
    const mark = `m${++this.#cases}`
    await using client = await this.#served.connect()
    const first = await ask(client, way.method, way.path)
    const second = first && (await ask(client, 'GET', `/good?${mark}`, 'Connection: close\r\n'))
    if (second !== undefined) {
      checkGood(second, mark)
      if (await client.more()) throw new Error('bytes follow the last response')
    }
    if (second === undefined) await this.#expectServing(mark)
    const faults = this.#served.unexpected()
    if (faults.length > 0) throw new Error(`the gateway did not expect this: ${faults.join('')}`)
    return `${way.path} ${first?.status ?? 'cut'} ${second === undefined ? 'closed' : 'kept'}`
  }

  close(): Promise<void> {
    return this.#served.close()
  }

  async #expectServing(mark: string): Promise<void> {
    await using client = await this.#served.connect()
    const good = await ask(client, 'GET', `/good?${mark}`, 'Connection: close\r\n')
    if (good === undefined) throw new Error('the next client gets no response')
    checkGood(good, mark)
  }
}

const checkGood = ({ status, body }: RawResponse, mark: string): void => {
  if (status !== 200 || body.toString() !== mark)
    throw new Error(`the next response is another one: ${status} ${body.toString().slice(0, 200)}`)
}

/** Undefined: the connection was closed instead. */
const ask = async (
  client: RawClient,
  method: Way['method'],
  target: string,
  more = '',
): Promise<RawResponse | undefined> => {
  client.send([Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: a.test\r\n${more}\r\n`)])
  try {
    const received = await client.response(method === 'HEAD')
    checkHead(received)
    return received
  } catch (error) {
    if (error instanceof BrokenError && error.message.startsWith('connection closed'))
      return undefined
    throw error
  }
}

/** RFC 9110 §5.5. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const checkHead = ({ status, headers }: RawResponse): void => {
  const names = headers.map(([name]) => name.toLowerCase())
  for (const [name, value] of headers)
    if (!VALUE.test(value))
      throw new Error(`header ${name} of the response holds a control character`)
  for (const name of ['content-length', 'transfer-encoding', 'x-request-id', 'location', 'date'])
    if (names.filter((each) => each === name).length > 1)
      throw new Error(`the response has several headers ${name}`)
  if (status === 204 && names.includes('content-length'))
    throw new Error('a response with 204 has a Content-Length')
}

/** Sends bytes for responses, but to who asks for `/good`. */
class LyingUpstream {
  response: { readonly way: Way; readonly bytes: Buffer } | undefined

  readonly serve = (socket: Socket): void => {
    let held = Buffer.alloc(0)
    socket.on('data', (data: Buffer) => {
      held = Buffer.concat([held, data])
      const { requests, readBytes } = readRequests(held)
      held = held.subarray(readBytes)
      for (const { target } of requests) this.#respondTo(target, socket)
    })
    socket.on('end', () => socket.end())
  }

  #respondTo(target: string, socket: Socket): void {
    const [path, mark = ''] = target.split('?')
    if (path === '/good') {
      socket.write(response('200 OK', [`Content-Length: ${mark.length}`], mark))
      return
    }
    const { way, bytes } = this.response ?? { way: wayOf(0), bytes: Buffer.alloc(0) }
    const middle = way.isSplit ? bytes.length >> 1 : 0
    socket.write(bytes.subarray(0, middle))
    setImmediate(() => {
      if (socket.destroyed) return
      socket.write(bytes.subarray(middle))
      if (way.isLast) socket.end()
    })
  }
}

const forwardsTo = (host: string): object => {
  const action = { type: 'forward', host }
  // What the upstream does not end is given up soon.
  const times = { timeout: 300, retries: 0 }
  return {
    '/good': { get: { action } },
    '/pass': { ...times, get: { action } },
    '/read': {
      ...times,
      get: { action, response: { on_result: { body: '{{action.result}}' } } },
    },
    '/headers': {
      ...times,
      get: {
        action,
        response: { on_result: { headers: { 'x-seen': '{{action.result.headers |> size}}' } } },
      },
    },
  }
}

export const responseHeads: FuzzTarget = {
  name: 'response-heads',
  seeds: SEEDS,
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: TOKENS }),
  open: async () => {
    const upstream = new LyingUpstream()
    return new Conversations(await serveForwards(forwardsTo, upstream.serve), upstream)
  },
}
