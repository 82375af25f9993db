// Requests of which two readers might see the end in different places. Behind each stands another request: either it is
// answered as one of its own, or the connection ends and it is never performed. What the conformance cases
// (hostile-wire, connections) hold already is not repeated here.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { answers, load, REALM } from '../component/gateway-client.ts'
import { type EchoUpstream, startEchoUpstream } from '../support/echo-upstream.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

let gateway: GatewayProcess
let upstream: EchoUpstream

beforeAll(async () => {
  ;[gateway, upstream] = await Promise.all([startGateway(), startEchoUpstream()])
  const sent = { action: { type: 'static', body: '{{request.body_length}}' }, response: {} }
  const next = { action: { type: 'forward', host: upstream.origin }, response: {} }
  const paths = { '/sent': { get: sent, post: sent }, '/next/:n': { get: next } }
  const versions = {
    v1: { base_path: '/', paths: { ...paths, '/ok': { get: answers('fine') } } },
  }
  await load(gateway, { id: 'desync', host: '_', realm_uri: REALM, versions })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

interface Outcome {
  /** In order; the last is that of the request behind, where the connection lives. */
  readonly statuses: readonly number[]
  readonly isPerformed: boolean
}

let count = 0

const outcomeOf = async (sent: string): Promise<Outcome> => {
  const path = `/next/${++count}`
  await using client = await openRawClient(addressOf(gateway.public), 15_000)
  const behind = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
  client.send([Buffer.from(sent + behind, 'latin1')])
  const statuses: number[] = []
  while (client.stream.length > 0 || (await client.more()))
    statuses.push((await client.response()).status)
  // Behind whatever the gateway has sent before.
  await request(`${gateway.public}/next/barrier`)
  return { statuses, isPerformed: upstream.seen((each) => each === path).length > 0 }
}

const SERVED: Outcome = { statuses: [200, 200], isPerformed: true }
const REFUSED: Outcome = { statuses: [400], isPerformed: false }
/** The request is refused, its end is certain. */
const REFUSED_ALONE: Outcome = { statuses: [400, 200], isPerformed: true }

const post = (headers: string, body: string, version = 'HTTP/1.1'): string =>
  `POST /sent ${version}\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const CHUNKS = '2\r\n42\r\n0\r\n\r\n'

describe('framing', () => {
  it.each<[string, string, Outcome]>([
    ['a length', post('Content-Length: 2\r\n', '42'), SERVED],
    ['chunks', post(CHUNKED, CHUNKS), SERVED],
    ['chunks in another spelling', post('transfer-ENCODING:\tCHUNKED \r\n', CHUNKS), SERVED],
    ['chunks of HTTP/1.0', post(CHUNKED, CHUNKS, 'HTTP/1.0'), REFUSED],
    [
      'chunks of HTTP/1.0 that stays',
      post(`Connection: keep-alive\r\n${CHUNKED}`, CHUNKS, 'HTTP/1.0'),
      REFUSED,
    ],
    [
      'chunks of HTTP/1.0 beside a length',
      post(`Connection: keep-alive\r\nContent-Length: 12\r\n${CHUNKED}`, CHUNKS, 'HTTP/1.0'),
      REFUSED,
    ],
    ['gzip before chunks', post('Transfer-Encoding: gzip, chunked\r\n', CHUNKS), REFUSED],
    ['identity before chunks', post('Transfer-Encoding: identity, chunked\r\n', CHUNKS), REFUSED],
    ['chunks twice', post('Transfer-Encoding: chunked, chunked\r\n', CHUNKS), REFUSED],
    ['chunks twice, in two lines', post(CHUNKED + CHUNKED, CHUNKS), REFUSED],
    ['gzip in a line before', post(`Transfer-Encoding: gzip\r\n${CHUNKED}`, CHUNKS), REFUSED],
    ['chunks before gzip', post('Transfer-Encoding: chunked, gzip\r\n', CHUNKS), REFUSED],
    ['chunks in a line before', post(`${CHUNKED}Transfer-Encoding: gzip\r\n`, CHUNKS), REFUSED],
    ['identity', post('Transfer-Encoding: identity\r\n', '42'), REFUSED],
    ['no coding', post('Transfer-Encoding:\r\n', CHUNKS), REFUSED],
    ['an empty coding before', post('Transfer-Encoding: , chunked\r\n', CHUNKS), REFUSED],
    ['a coding with a parameter', post('Transfer-Encoding: chunked;q=1\r\n', CHUNKS), REFUSED],
    ['a coding in quotes', post('Transfer-Encoding: "chunked"\r\n', CHUNKS), REFUSED],
    ['a coding behind a tab', post('Transfer-Encoding: \x0bchunked\r\n', CHUNKS), REFUSED],
    ['a folded coding', post('Transfer-Encoding:\r\n chunked\r\n', CHUNKS), REFUSED],
    ['a list of lengths', post('Content-Length: 2, 2\r\n', '42'), REFUSED],
    ['one length twice', post('Content-Length: 2\r\nContent-Length: 2\r\n', '42'), REFUSED],
    ['a length in hexadecimal', post('Content-Length: 0x2\r\n', '42'), REFUSED],
    ['a length with a fraction', post('Content-Length: 2.0\r\n', '42'), REFUSED],
    ['an endless length', post(`Content-Length: ${'9'.repeat(30)}\r\n`, '42'), REFUSED],
    ['an empty length', post('Content-Length:\r\n', ''), REFUSED],
    ['a size with a sign', post(CHUNKED, '+2\r\n42\r\n0\r\n\r\n'), REFUSED],
    ['a size behind a blank', post(CHUNKED, ' 2\r\n42\r\n0\r\n\r\n'), REFUSED],
    ['a size in hexadecimal', post(CHUNKED, '0x2\r\n42\r\n0\r\n\r\n'), REFUSED],
    ['a size beyond 64 bits', post(CHUNKED, `${'f'.repeat(17)}2\r\n42\r\n0\r\n\r\n`), REFUSED],
    ['a chunk that is longer than its size', post(CHUNKED, '2\r\n423\r\n0\r\n\r\n'), REFUSED],
    ['a chunk that ends by LF', post(CHUNKED, '2\r\n42\n0\r\n\r\n'), REFUSED],
    ['an extension that ends by LF', post(CHUNKED, '2;a\n42\r\n0\r\n\r\n'), REFUSED],
    ['a length in trailers', post(CHUNKED, '2\r\n42\r\n0\r\nContent-Length: 9\r\n\r\n'), REFUSED],
    [
      'a head that ends by LF',
      post('Content-Length: 2\r\n', '42').replaceAll('\r\n', '\n'),
      REFUSED,
    ],
    [
      'names that only look like it',
      post('Content_Length: 9\r\nTransfer_Encoding: x\r\n', ''),
      SERVED,
    ],
    ['a body of a GET', 'GET /sent HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n42', SERVED],
  ])('%s', async (_, sent, outcome) => {
    expect(await outcomeOf(sent)).toEqual(outcome)
  })
})

describe('versions', () => {
  it.each<[string, Outcome]>([
    ['HTTP/1.1', SERVED],
    ['HTTP/0.9', REFUSED],
    ['HTTP/1.2', REFUSED],
    ['HTTP/2.0', REFUSED],
    ['HTTP/3.0', REFUSED],
    ['HTTP/1.1.1', REFUSED],
    ['HTTP/11', REFUSED],
    ['http/1.1', REFUSED],
    ['HTTPS/1.1', REFUSED],
    ['', REFUSED],
  ])('%j', async (version, outcome) => {
    expect(await outcomeOf(`GET /ok ${version}\r\nHost: a\r\n\r\n`)).toEqual(outcome)
  })

  it('a request line without a version', async () => {
    expect(await outcomeOf('GET /ok\r\n')).toEqual(REFUSED)
    expect(await outcomeOf('GET /ok\r\n\r\n')).toEqual(REFUSED)
  })

  it('HTTP/1.0 with a length stays where it asks to', async () => {
    const sent = post('Connection: keep-alive\r\nContent-Length: 2\r\n', '42', 'HTTP/1.0')
    expect(await outcomeOf(sent)).toEqual(SERVED)
  })
})

describe('a Host or target that is none: refused, and the next request served', () => {
  it.each([
    ['a list', '/ok', 'a.test,evil.test'],
    ['a port and more', '/ok', 'a.test:443,evil.test'],
    ['a port that is too large', '/ok', 'a.test:65536'],
    ['a port of zero', '/ok', 'a.test:0'],
    ['userinfo', '/ok', 'u@a.test'],
    ['an address that is not closed', '/ok', '[::1'],
    ['another scheme', 'x://a.test/ok', 'a.test'],
    ['a scheme of WebSockets', 'ws://a.test/ok', 'a.test'],
    ['userinfo in the target', 'http://u:p@a.test/ok', 'a.test'],
    ['a port and more in the target', 'http://a.test:1,b/ok', 'a.test'],
    ['no host in the target', 'http:///ok', 'a.test'],
    ['a Host that is none beside the target', 'http://a.test/ok', 'a.test:x'],
  ])('%s', async (_, target, host) => {
    expect(await outcomeOf(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toEqual(
      REFUSED_ALONE,
    )
  })
})

it('serves the next client as before', async () => {
  expect((await request(`${gateway.public}/ok`)).text).toBe('"fine"')
})
