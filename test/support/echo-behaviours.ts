// Answers a request of an echo upstream as the first segment of its path asks for, `/status/503/…`, `/reset/…`: bytes
// go to its socket, whole, slow or broken. Nothing here is ever an accident.

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

/** One request as it arrived: header names lower case, in order. */
export interface Echo {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly header: Readonly<Record<string, readonly string[]>>
  readonly body_length: number
  readonly body_sha256: string
  /** The body where it is text of at most 100 000 bytes; `body_hex` where it is none. */
  readonly body?: string
  readonly body_hex?: string
}

interface Exchange {
  readonly socket: Socket
  readonly echo: Echo
  /** Segments after the first. */
  readonly args: readonly string[]
  /** 1 for the first request of this very path. */
  readonly attempt: number
  /** Aborted when the upstream closes: nothing may sleep on. */
  readonly closing: AbortSignal
}

/** Answers; false ends the connection. */
type Behaviour = (exchange: Exchange) => boolean | Promise<boolean>

/** The behaviour of a first segment; any other word echoes. */
export const behaviourOf = (word: string): Behaviour =>
  Object.hasOwn(BEHAVIOURS, word) ? (BEHAVIOURS[word] ?? echoes) : echoes

/** The body of `/bytes/N`. */
export const bigBytes = (count: number): Buffer => {
  const block = Buffer.from(Array.from({ length: 65536 }, (_, i) => i & 255))
  return Buffer.alloc(count, block)
}

/** The body of `/gzip`. */
export const GZIPPED: Buffer = gzipSync('{"zipped":true}')

/** `{"packed": true, "n": 7, "list": [1, "two"]}` */
const PACKED = Buffer.from('83a67061636b6564c3a16e07a46c6973749201a374776f', 'hex')

const MALFORMED: Readonly<Record<string, string>> = {
  'status-line': 'HTTX/9 hello\r\n\r\n',
  header: 'HTTP/1.1 200 OK\r\nthis is no header\r\ncontent-length: 2\r\n\r\nok',
  'two-lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\nok123',
  chunk: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n',
  json: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{"a":',
}

interface EchoResponse {
  readonly status?: number
  readonly type?: string
  /** Whole header lines. */
  readonly extra?: readonly string[]
}

const answer = (
  { socket, echo }: Exchange,
  body: unknown,
  { status = 200, type = 'application/json', extra = [] }: EchoResponse = {},
): boolean => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const bodiless = status === 204 || status === 304
  const head = [`HTTP/1.1 ${status} Status`, `content-type: ${type}`, ...extra]
  if (!bodiless) head.push(`content-length: ${bytes.length}`)
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  if (!bodiless && echo.method !== 'HEAD') socket.write(bytes)
  return true
}

const echoes: Behaviour = (exchange) => answer(exchange, exchange.echo)

const resets: Behaviour = ({ socket }) => {
  socket.resetAndDestroy()
  return false
}

const CHUNKED_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  /** /status/N */
  status: (exchange) => {
    const status = Number(exchange.args[0])
    const body = { status, attempt: exchange.attempt }
    return answer(exchange, body, { status, extra: ['x-up: from-upstream'] })
  },
  /** /delay/MS */
  delay: async (exchange) => {
    await sleep(Number(exchange.args[0]), undefined, { signal: exchange.closing })
    return echoes(exchange)
  },
  /** /slow-body/PARTS/MS */
  'slow-body': async ({ socket, args, closing }) => {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    for (let i = 0; i < Number(args[0]) && socket.writable; i += 1) {
      socket.write(`5\r\npart${i % 10}\r\n`)
      await sleep(Number(args[1]), undefined, { signal: closing })
    }
    socket.write('0\r\n\r\n')
    return true
  },
  /** The echo in chunks of 50 bytes, with extensions and a trailer. */
  chunked: ({ socket, echo }) => {
    const bytes = Buffer.from(JSON.stringify(echo))
    socket.write(CHUNKED_HEAD)
    for (let at = 0; at < bytes.length; at += 50) {
      const part = bytes.subarray(at, at + 50)
      socket.write(
        Buffer.concat([
          Buffer.from(`${part.length.toString(16)};ext=1\r\n`),
          part,
          Buffer.from('\r\n'),
        ]),
      )
    }
    socket.write('0\r\nx-trailer: 1\r\n\r\n')
    return true
  },
  /** /bytes/N */
  bytes: (exchange) =>
    answer(exchange, bigBytes(Number(exchange.args[0])), { type: 'application/octet-stream' }),
  text: (exchange) =>
    answer(exchange, Buffer.from('plain text, not JSON: {"a":'), {
      type: 'text/plain; charset=utf-8',
    }),
  /** The JSON that stands, percent-encoded, in the query. */
  json: (exchange) => answer(exchange, Buffer.from(decodeURIComponent(exchange.echo.query))),
  msgpack: (exchange) => answer(exchange, PACKED, { type: 'application/msgpack' }),
  gzip: (exchange) =>
    answer(exchange, GZIPPED, { extra: ['content-encoding: gzip', 'vary: accept-encoding'] }),
  'dup-headers': (exchange) =>
    answer(exchange, { ok: true }, { extra: ['x-many: one', 'x-many: two', 'X-Case: Kept'] }),
  'set-cookie': (exchange) =>
    answer(
      exchange,
      { ok: true },
      { extra: ['set-cookie: a=1; Path=/', 'set-cookie: b=2; HttpOnly'] },
    ),
  'hop-headers': (exchange) =>
    answer(
      exchange,
      { ok: true },
      {
        extra: [
          'connection: x-private',
          'x-private: 1',
          'keep-alive: timeout=99',
          'proxy-authenticate: Basic',
          'x-public: 1',
        ],
      },
    ),
  /** /redirect/N?LOCATION */
  redirect: (exchange) => {
    const location = decodeURIComponent(exchange.echo.query) || '/echo/target'
    return answer(
      exchange,
      { moved: true },
      { status: Number(exchange.args[0]), extra: [`location: ${location}`] },
    )
  },
  'no-content': (exchange) => answer(exchange, '', { status: 204 }),
  /** /flaky/TIMES/STATUS or /flaky/TIMES/reset: fails that often, then echoes with `attempt`. */
  flaky: (exchange) => {
    const { args, attempt, echo } = exchange
    if (attempt > Number(args[0])) return answer(exchange, { ...echo, attempt })
    return args[1] === 'reset'
      ? resets(exchange)
      : answer(exchange, { attempt }, { status: Number(args[1]) })
  },
  reset: resets,
  /** /close/before or /close/after-headers */
  close: ({ socket, args }) => {
    if (args[0] === 'after-headers') {
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"cut":',
      )
    }
    return false
  },
  /** Says nothing for 25 seconds. */
  hang: async ({ closing }) => {
    await sleep(25_000, undefined, { signal: closing })
    return false
  },
  /** /malformed/status-line, header, two-lengths, chunk, json */
  malformed: ({ socket, args }) => {
    socket.write(MALFORMED[args[0] ?? ''] ?? '')
    return false
  },
}
