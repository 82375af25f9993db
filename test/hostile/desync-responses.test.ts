// Responses of upstreams of which two readers might see the end in different places. Each is followed by a second request
// to the same upstream on the same connection of the client: it gets its own response, or the connection has ended.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { load, REALM } from '../component/gateway-client.ts'
import { type Listening, listenRaw } from '../dataplane/upstream/servers.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

type Row = readonly [name: string, sent: string, expected: Expected, more?: RowOptions]

/** Status and body; `cut`: the connection ended before the response was whole. */
type Expected = readonly [status: number, body: string] | 'refused' | 'cut'

interface RowOptions {
  /** The upstream hangs up behind it. */
  readonly ends?: boolean
  readonly method?: 'HEAD'
}

const OK = 'HTTP/1.1 200 OK\r\n'
const HELLO = 'Content-Length: 5\r\n\r\nhello'
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
/** What an attacker would like to be the next response. */
const SMUGGLED = `${OK}Content-Length: 8\r\n\r\nsmuggled`

const ROWS: readonly Row[] = [
  ['a length', OK + HELLO, [200, 'hello']],
  ['a response behind the response', OK + HELLO + SMUGGLED, [200, 'hello']],
  ['fewer bytes', `${OK}Content-Length: 9\r\n\r\nhello`, 'cut', { ends: true }],
  ['no byte', `${OK}Content-Length: 9\r\n\r\n`, 'cut', { ends: true }],
  ['two lengths', `${OK}Content-Length: 4\r\n${HELLO}`, 'refused'],
  ['a length with a sign', `${OK}Content-Length: +5\r\n\r\nhello`, 'refused'],
  ['a list of lengths', `${OK}Content-Length: 5, 5\r\n\r\nhello`, 'refused'],
  [
    'a length beside chunks',
    `${OK}Content-Length: 5\r\n${CHUNKED}5\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  ['chunks', `${OK}${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, [200, 'hello']],
  [
    'chunks and a response behind',
    `${OK}${CHUNKED}5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`,
    [200, 'hello'],
  ],
  ['a broken chunk', `${OK}${CHUNKED}5\r\nhello\r\nzz\r\n`, 'cut'],
  ['no last chunk', `${OK}${CHUNKED}5\r\nhello\r\n`, 'cut', { ends: true }],
  [
    'gzip before chunks',
    `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  ['another coding', `${OK}Transfer-Encoding: gzip\r\n\r\nhello`, 'refused', { ends: true }],
  ['HTTP/1.0 to the end', 'HTTP/1.0 200 OK\r\n\r\nhello', [200, 'hello'], { ends: true }],
  ['204 with a body', `HTTP/1.1 204 N\r\n${HELLO}`, [204, '']],
  ['204 and a response', `HTTP/1.1 204 N\r\n\r\n${SMUGGLED}`, [204, '']],
  ['205 with a body', `HTTP/1.1 205 R\r\n${HELLO}`, [205, '']],
  ['205 with chunks', `HTTP/1.1 205 R\r\n${CHUNKED}0\r\n\r\n`, [205, '']],
  ['304 with a body', `HTTP/1.1 304 N\r\n${HELLO}`, [304, '']],
  ['HEAD with a body', OK + HELLO, [200, ''], { method: 'HEAD' }],
  ['interim responses', `HTTP/1.1 103 E\r\n\r\n${OK}${HELLO}`, [200, 'hello']],
  [
    'an interim response with a length',
    `HTTP/1.1 103 E\r\nContent-Length: 9\r\n\r\n${OK}${HELLO}`,
    'refused',
  ],
  ['101', 'HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\nhello', 'refused'],
  ['600', `HTTP/1.1 600 X\r\n${HELLO}`, 'refused'],
  ['999', `HTTP/1.1 999 X\r\n${HELLO}`, 'refused'],
  ['099', `HTTP/1.1 099 X\r\n${HELLO}`, 'refused'],
  ['000', `HTTP/1.1 000 X\r\n${HELLO}`, 'refused'],
  ['four digits', `HTTP/1.1 2000 X\r\n${HELLO}`, 'refused'],
  ['another version', `HTTP/2.0 200 OK\r\n${HELLO}`, 'refused'],
  ['no head', 'hello', 'refused', { ends: true }],
  ['a line break in a value', `${OK}X: a\rY: b\r\n${HELLO}`, 'refused'],
  ['a name with a blank', `${OK}Content-Length : 5\r\n\r\nhello`, 'refused'],
  // The framing of the one header against that of the other: CL.TE and TE.CL.
  ['a length of 0 beside chunks', `${OK}Content-Length: 0\r\n${CHUNKED}0\r\n\r\n`, 'refused'],
  ['chunks beside a length', `${OK}Transfer-Encoding: chunked\r\n${HELLO}`, 'refused'],
  ['two equal lengths', `${OK}Content-Length: 5\r\n${HELLO}`, 'refused'],
  ['a negative length', `${OK}Content-Length: -5\r\n\r\nhello`, 'refused'],
  ['a length with a blank in it', `${OK}Content-Length: 5 5\r\n\r\nhello`, 'refused'],
  ['a hexadecimal length', `${OK}Content-Length: 0x5\r\n\r\nhello`, 'refused'],
  ['an empty length', `${OK}Content-Length:\r\n\r\nhello`, 'refused', { ends: true }],
  [
    'a length of more than 64 bits',
    `${OK}Content-Length: 18446744073709551621\r\n\r\nhello`,
    'refused',
  ],
  // One coding, written so that only one of two readers sees it: TE.TE.
  [
    'chunked twice',
    `${OK}Transfer-Encoding: chunked\r\n${CHUNKED}5\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  [
    'chunked, and identity',
    `${OK}Transfer-Encoding: identity\r\n${CHUNKED}5\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  ['xchunked', `${OK}Transfer-Encoding: xchunked\r\n\r\nhello`, 'refused', { ends: true }],
  [
    'chunked in quotes',
    `${OK}Transfer-Encoding: "chunked"\r\n\r\nhello`,
    'refused',
    { ends: true },
  ],
  [
    'chunked behind a vertical tab',
    `${OK}Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n`,
    'refused',
  ],
  [
    'chunked on a folded line',
    `${OK}Transfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  [
    'a coding with a blank before the colon',
    `${OK}Transfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  ['a coding with NUL', `${OK}Transfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n`, 'refused'],
  [
    'a coding with a tab behind it',
    `${OK}Transfer-Encoding: chunked\t\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'refused',
    { ends: true },
  ],
  [
    'chunks of HTTP/1.0 and a response behind',
    `HTTP/1.0 200 OK\r\n${CHUNKED}5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`,
    [200, 'hello'],
  ],
  // Chunks that end in different places: refused where nothing of the response was sent so far.
  ['a chunk size with 0x', `${OK}${CHUNKED}0x5\r\nhello\r\n0\r\n\r\n`, 'refused'],
  ['a chunk size with a sign', `${OK}${CHUNKED}+5\r\nhello\r\n0\r\n\r\n`, 'refused'],
  [
    'a chunk size of more than 64 bits',
    `${OK}${CHUNKED}10000000000000005\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  ['a chunk size that ends with LF', `${OK}${CHUNKED}5\nhello\r\n0\r\n\r\n`, 'refused'],
  ['an extension that ends with LF', `${OK}${CHUNKED}5;a\nhello\r\n0\r\n\r\n`, 'refused'],
  ['an extension with a bare CR', `${OK}${CHUNKED}5;a\rb\r\nhello\r\n0\r\n\r\n`, 'refused'],
  ['an extension', `${OK}${CHUNKED}5;a=b\r\nhello\r\n0\r\n\r\n`, [200, 'hello']],
  [
    'extensions without end',
    `${OK}${CHUNKED}5;${'a'.repeat(70_000)}\r\nhello\r\n0\r\n\r\n`,
    'refused',
  ],
  ['a chunk that ends with LF', `${OK}${CHUNKED}5\r\nhello\n0\r\n\r\n`, 'cut'],
  ['a chunk without a line end', `${OK}${CHUNKED}5\r\nhello0\r\n\r\n`, 'cut'],
  ['a chunk longer than its size', `${OK}${CHUNKED}4\r\nhello\r\n0\r\n\r\n`, 'cut'],
  [
    'a response in place of the last line end',
    `${OK}${CHUNKED}5\r\nhello\r\n0\r\n${SMUGGLED}`,
    'cut',
  ],
  ['a trailer', `${OK}${CHUNKED}5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n`, [200, 'hello']],
  [
    'a trailer with a length',
    `${OK}${CHUNKED}5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n`,
    'cut',
  ],
  [
    'a trailer with a coding',
    `${OK}${CHUNKED}5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'cut',
  ],
  [
    'trailers without end',
    `${OK}${CHUNKED}5\r\nhello\r\n0\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`,
    'cut',
  ],
  // Heads that end in different places.
  ['lines that end with LF', 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello', 'refused'],
  ['a field that ends with LF', `${OK}X: a\nContent-Length: 50\r\n${HELLO}`, 'refused'],
  ['a folded field', `${OK}X: a\r\n b\r\n${HELLO}`, 'refused'],
  ['a field without a colon', `${OK}X\r\n${HELLO}`, 'refused'],
  ['a field without a name', `${OK}: x\r\n${HELLO}`, 'refused'],
  ['NUL in a value', `${OK}X: a\0b\r\n${HELLO}`, 'refused'],
  ['an empty line before the head', `\r\n${OK}${HELLO}`, 'refused'],
  ['a blank before the head', ` ${OK}${HELLO}`, 'refused'],
  ['a head without end', `${OK}X: ${'a'.repeat(70_000)}\r\n${HELLO}`, 'refused'],
  ['HTTP/0.9', '<html>hello</html>', 'refused', { ends: true }],
  ['HTTP/1.2', `HTTP/1.2 200 OK\r\n${HELLO}`, 'refused'],
  ['a version in lower case', `http/1.1 200 OK\r\n${HELLO}`, 'refused'],
  // Responses without a body that have one, and responses that no request asked for: the queue of responses is poisoned.
  [
    '304 and a response',
    `HTTP/1.1 304 N\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    [304, ''],
  ],
  ['204 with chunks', `HTTP/1.1 204 N\r\n${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, [204, '']],
  [
    'HEAD and a response',
    `${OK}Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    [200, ''],
    { method: 'HEAD' },
  ],
  ['HEAD with chunks', `${OK}${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, [200, ''], { method: 'HEAD' }],
  ['a response behind one of length 0', `${OK}Content-Length: 0\r\n\r\n${SMUGGLED}`, [200, '']],
  [
    'a response behind one that closes',
    `${OK}Connection: close\r\n${HELLO}${SMUGGLED}`,
    [200, 'hello'],
  ],
  [
    'an interim response behind the response',
    `${OK}${HELLO}HTTP/1.1 100 C\r\n\r\n`,
    [200, 'hello'],
  ],
  [
    'an interim response that closes',
    `HTTP/1.1 103 E\r\nConnection: close\r\n\r\n${OK}${HELLO}`,
    'refused',
  ],
  [
    'a thousand interim responses',
    'HTTP/1.1 103 E\r\n\r\n'.repeat(1000) + OK + HELLO,
    [200, 'hello'],
  ],
  [
    'ten thousand interim responses',
    'HTTP/1.1 103 E\r\n\r\n'.repeat(10_000) + OK + HELLO,
    'refused',
  ],
  // The end of the connection ends the body, or does not.
  ['HTTP/1.1 to the end', `${OK}\r\nhello`, [200, 'hello'], { ends: true }],
  ['a chunk that is cut', `${OK}${CHUNKED}9\r\nhello`, 'cut', { ends: true }],
  ['a cut in the last chunk', `${OK}${CHUNKED}5\r\nhello\r\n0\r\n`, 'cut', { ends: true }],
  ['a cut in the head', `${OK}Content-Length: 5\r\n`, 'refused', { ends: true }],
]

let gateway: GatewayProcess
let upstream: Listening

beforeAll(async () => {
  upstream = await listenRaw((socket, text) => {
    const [, path = ''] = /^\w+ (\S+) /.exec(text) ?? []
    const row = ROWS[Number(path.slice('/row/'.length))]
    if (path === '/next') socket.write(`${OK}Content-Length: 4\r\n\r\nnext`)
    else if (row?.[3]?.ends === true) socket.end(row[1], 'latin1')
    else if (row !== undefined) socket.write(row[1], 'latin1')
  })
  gateway = await startGateway()
  const get = {
    action: { type: 'forward', host: upstream.origin, timeout: 10_000 },
    response: {},
  }
  const versions = { v1: { base_path: '/', paths: { '/row/:n': { get }, '/next': { get } } } }
  await load(gateway, { id: 'desync', host: '_', realm_uri: REALM, versions })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

it.each(ROWS.map((row, index) => [row[0], row, index] as const))('%s', async (_, row, index) => {
  const [, , expected, { method = 'GET' } = {}] = row
  await using own = await openRawClient(addressOf(gateway.public), 15_000)
  own.send([Buffer.from(`${method} /row/${index} HTTP/1.1\r\nHost: a\r\n\r\n`)])
  const response = await own.response(method === 'HEAD').catch(() => undefined)
  const first = response === undefined ? 'cut' : [response.status, toText(response.body)]
  own.send([Buffer.from(GET_NEXT)])
  const next = await own.response().then(
    ({ body }) => body.toString(),
    () => 'ended',
  )
  const rest = next === 'ended' ? 0 : own.stream.length
  const wanted = outcomeOf(expected)
  expect({ first, next, rest }).toEqual({ ...wanted, rest: 0 })
})

const GET_NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'

/** An error record counts as its code. */
const toText = (body: Buffer): string =>
  /"code":"([\w.]+)"/.exec(body.toString())?.[1] ?? body.toString()

const outcomeOf = (expected: Expected): object => {
  if (expected === 'cut') return { first: 'cut', next: 'ended' }
  if (expected === 'refused') return { first: [504, 'svc.error.bad_gateway'], next: 'next' }
  return { first: expected, next: 'next' }
}
