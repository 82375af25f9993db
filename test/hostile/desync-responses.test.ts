// Answers of upstreams of which two readers might see the end in different places. Each is followed by a second request
// to the same upstream on the same connection of the client: it gets its own answer, or the connection has ended.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { load, REALM } from '../component/gateway-client.ts'
import { type Listening, listenRaw } from '../dataplane/upstream/servers.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

interface Row {
  readonly name: string
  readonly sent: string
  /** The upstream hangs up behind it. */
  readonly ends?: boolean
  readonly method?: 'HEAD'
  /** Status and body; `cut`: the connection ended before the response was whole. */
  readonly expected: readonly [status: number, body: string] | 'refused' | 'cut'
}

const OK = 'HTTP/1.1 200 OK\r\n'
const HELLO = 'Content-Length: 5\r\n\r\nhello'
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
/** What an attacker would like to be the next answer. */
const SMUGGLED = `${OK}Content-Length: 8\r\n\r\nsmuggled`

const ROWS: readonly Row[] = [
  { name: 'a length', sent: OK + HELLO, expected: [200, 'hello'] },
  { name: 'an answer behind the answer', sent: OK + HELLO + SMUGGLED, expected: [200, 'hello'] },
  { name: 'fewer bytes', sent: `${OK}Content-Length: 9\r\n\r\nhello`, ends: true, expected: 'cut' },
  { name: 'no byte', sent: `${OK}Content-Length: 9\r\n\r\n`, ends: true, expected: 'cut' },
  { name: 'two lengths', sent: `${OK}Content-Length: 4\r\n${HELLO}`, expected: 'refused' },
  {
    name: 'a length with a sign',
    sent: `${OK}Content-Length: +5\r\n\r\nhello`,
    expected: 'refused',
  },
  {
    name: 'a list of lengths',
    sent: `${OK}Content-Length: 5, 5\r\n\r\nhello`,
    expected: 'refused',
  },
  {
    name: 'a length beside chunks',
    sent: `${OK}Content-Length: 5\r\n${CHUNKED}5\r\nhello\r\n0\r\n\r\n`,
    expected: 'refused',
  },
  { name: 'chunks', sent: `${OK}${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, expected: [200, 'hello'] },
  {
    name: 'chunks and an answer behind',
    sent: `${OK}${CHUNKED}5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`,
    expected: [200, 'hello'],
  },
  { name: 'a broken chunk', sent: `${OK}${CHUNKED}5\r\nhello\r\nzz\r\n`, expected: 'cut' },
  { name: 'no last chunk', sent: `${OK}${CHUNKED}5\r\nhello\r\n`, ends: true, expected: 'cut' },
  {
    name: 'gzip before chunks',
    sent: `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    expected: 'refused',
  },
  {
    name: 'another coding',
    sent: `${OK}Transfer-Encoding: gzip\r\n\r\nhello`,
    ends: true,
    expected: 'refused',
  },
  {
    name: 'HTTP/1.0 to the end',
    sent: 'HTTP/1.0 200 OK\r\n\r\nhello',
    ends: true,
    expected: [200, 'hello'],
  },
  { name: '204 with a body', sent: `HTTP/1.1 204 N\r\n${HELLO}`, expected: [204, ''] },
  { name: '204 and an answer', sent: `HTTP/1.1 204 N\r\n\r\n${SMUGGLED}`, expected: [204, ''] },
  { name: '205 with a body', sent: `HTTP/1.1 205 R\r\n${HELLO}`, expected: [205, ''] },
  { name: '205 with chunks', sent: `HTTP/1.1 205 R\r\n${CHUNKED}0\r\n\r\n`, expected: [205, ''] },
  { name: '304 with a body', sent: `HTTP/1.1 304 N\r\n${HELLO}`, expected: [304, ''] },
  { name: 'HEAD with a body', method: 'HEAD', sent: OK + HELLO, expected: [200, ''] },
  {
    name: 'interim answers',
    sent: `HTTP/1.1 103 E\r\n\r\n${OK}${HELLO}`,
    expected: [200, 'hello'],
  },
  {
    name: 'an interim answer with a length',
    sent: `HTTP/1.1 103 E\r\nContent-Length: 9\r\n\r\n${OK}${HELLO}`,
    expected: [200, 'hello'],
  },
  { name: '101', sent: 'HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\nhello', expected: 'refused' },
  { name: '600', sent: `HTTP/1.1 600 X\r\n${HELLO}`, expected: 'refused' },
  { name: '999', sent: `HTTP/1.1 999 X\r\n${HELLO}`, expected: 'refused' },
  { name: '099', sent: `HTTP/1.1 099 X\r\n${HELLO}`, expected: 'refused' },
  { name: '000', sent: `HTTP/1.1 000 X\r\n${HELLO}`, expected: 'refused' },
  { name: 'four digits', sent: `HTTP/1.1 2000 X\r\n${HELLO}`, expected: 'refused' },
  { name: 'another version', sent: `HTTP/2.0 200 OK\r\n${HELLO}`, expected: [200, 'hello'] },
  { name: 'no head', sent: 'hello', ends: true, expected: 'refused' },
  { name: 'a line break in a value', sent: `${OK}X: a\rY: b\r\n${HELLO}`, expected: 'refused' },
  {
    name: 'a name with a blank',
    sent: `${OK}Content-Length : 5\r\n\r\nhello`,
    expected: 'refused',
  },
]

let gateway: GatewayProcess
let upstream: Listening

beforeAll(async () => {
  upstream = await listenRaw((socket, text) => {
    const [, path = ''] = /^\w+ (\S+) /.exec(text) ?? []
    const row = ROWS[Number(path.slice('/row/'.length))]
    if (path === '/next') socket.write(`${OK}Content-Length: 4\r\n\r\nnext`)
    else if (row?.ends === true) socket.end(row.sent, 'latin1')
    else if (row !== undefined) socket.write(row.sent, 'latin1')
  })
  gateway = await startGateway()
  const get = {
    action: { type: 'forward', host: upstream.origin, timeout: 10_000 },
    response: {},
  }
  const versions = { v1: { base_path: '/', paths: { '/row/:n': { get }, '/next': { get } } } }
  await load(gateway, { id: 'desync', host: '_', realm_uri: REALM, versions })
}, 30_000)

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
}, 15_000)

const OUTCOMES = {
  cut: { first: 'cut', next: 'ended' },
  refused: { first: [504, 'svc.error.bad_gateway'], next: 'next' },
} as const

const GET_NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'

/** An error record counts as its code. */
const toText = (body: Buffer): string =>
  /"code":"([\w.]+)"/.exec(body.toString())?.[1] ?? body.toString()

it.each(ROWS.map((row, index) => [row.name, row, index] as const))(
  '%s',
  async (...[, { method = 'GET', expected }, index]) => {
    await using client = await openRawClient(addressOf(gateway.public), 15_000)
    client.send([Buffer.from(`${method} /row/${index} HTTP/1.1\r\nHost: a\r\n\r\n`)])
    const answer = await client.response(method === 'HEAD').catch(() => undefined)
    const first = answer === undefined ? 'cut' : [answer.status, toText(answer.body)]
    client.send([Buffer.from(GET_NEXT)])
    const next = await client.response().then(
      ({ body }) => body.toString(),
      () => 'ended',
    )
    const outcome =
      typeof expected === 'string' ? OUTCOMES[expected] : { first: expected, next: 'next' }
    const rest = next === 'ended' ? 0 : client.stream.length
    expect({ first, next, rest }).toEqual({ ...outcome, rest: 0 })
  },
)
