// 103 Early Hints of an upstream, as they reach clients over real sockets (behaviour §5).

import { request as httpRequest } from 'node:http'
import { expect, it } from '@jest/globals'
import { eventually } from '../../../support/eventually.ts'
import { serveUpstream, type Served, type ServedParts } from './forward-server.ts'

const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** All that a client gets until the connection ends. */
const received = async ({ gateway }: Served, request = 'GET /x HTTP/1.1'): Promise<string> => {
  await using client = await gateway.raw(
    `${request}\r\nHost: a.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  )
  return (await client.stream.takeToEnd()).toString('latin1')
}

/** The interim responses of what a client gets, and the status of the final one. */
const readAll = (text: string): { readonly interim: string[]; readonly status: number } => {
  const heads = text.split(/(?<=\r\n\r\n)(?=HTTP\/1\.1 )/)
  const isInterim = (head: string): boolean => head.startsWith('HTTP/1.1 1')
  const [final = ''] = heads.filter((head) => !isInterim(head))
  return { interim: heads.filter(isInterim), status: Number(final.slice(9, 12)) }
}

const PASSED = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n'

it.each<[string, string, string[]]>([
  ['one', HINTS, [PASSED]],
  ['two', HINTS + HINTS, [PASSED, PASSED]],
  [
    'other fields are left out',
    'HTTP/1.1 103 x\r\nSet-Cookie: a=b\r\nlink: </b>\r\nX-A: 1\r\nContent-Security-Policy: x\r\n\r\n',
    ['HTTP/1.1 103 Early Hints\r\nlink: </b>\r\n\r\n'],
  ],
  [
    'several links, in one field and in two',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload, </b>;x="\xe9,;"\r\nLink: </c>\r\n\r\n',
    ['HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload, </b>;x="\xe9,;"\r\nlink: </c>\r\n\r\n'],
  ],
  ['without links there is nothing to say', 'HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\n', []],
  [
    'what Connection names passes on no way',
    'HTTP/1.1 103 Early Hints\r\nConnection: link\r\nLink: </a>\r\n\r\n',
    [],
  ],
  ['other interim responses stay here', 'HTTP/1.1 102 x\r\nLink: </a>\r\n\r\n', []],
])('reaches the client before the final response: %s', async (_, hints, interim) => {
  const served = await serveUpstream(hints + OK)
  const text = await received(served)
  expect(readAll(text)).toEqual({ interim, status: 200 })
  expect(text.endsWith('\r\n\r\nok')).toBe(true)
})

it('comes as it was sent, while the final response is still to come', async () => {
  const { gateway, sockets } = await serveUpstream(HINTS)
  const heads: unknown[] = []
  const request = httpRequest(`${gateway.url}/x`, { headers: { host: 'a.test' }, agent: false })
  request.on('information', ({ statusCode, headers }) => heads.push([statusCode, headers['link']]))
  request.on('response', (response) => {
    heads.push(response.statusCode)
    response.resume()
  })
  request.end()
  await eventually(() => {
    expect(heads).toEqual([[103, '</a.css>; rel=preload']])
  })
  sockets[0]?.write(OK)
  await eventually(() => {
    expect(heads).toEqual([[103, '</a.css>; rel=preload'], 200])
  })
})

it.each(['POST', 'HEAD'])('comes for %s too', async (method) => {
  const served = await serveUpstream(HINTS + OK)
  const text = await received(served, `${method} /x HTTP/1.1`)
  expect(readAll(text)).toEqual({ interim: [PASSED], status: 200 })
})

it('is followed by the error, if the upstream fails then', async () => {
  const served = await serveUpstream(`${HINTS}nonsense\r\n\r\n`)
  expect(readAll(await received(served))).toEqual({ interim: [PASSED], status: 504 })
  expect(served.gateway.statuses).toEqual([504])
})

const read = { on_result: { body: { got: '{{action.result.body}}' } } }

it.each<[string, ServedParts]>([
  ['another attempt may follow', { action: { retries: 1 } }],
  ['the document reads the response', { response: read }],
  ['the document writes all headers', { response: { on_result: { headers: { 'x-a': '1' } } } }],
  ['the document writes the links', { api: { defaults: { headers: { Link: '</mine>' } } } }],
])('does not reach the client: %s', async (_, parts) => {
  const json = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
  const served = await serveUpstream(HINTS + json, parts)
  expect(readAll(await received(served))).toEqual({ interim: [], status: 200 })
})

it('does not reach clients of HTTP/1.0, which has no interim responses', async () => {
  const text = await received(await serveUpstream(HINTS + OK), 'GET /x HTTP/1.0')
  expect(readAll(text)).toEqual({ interim: [], status: 200 })
})

it('changes nothing for a client that has left', async () => {
  const { gateway, sockets } = await serveUpstream('')
  const client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await eventually(() => {
    expect(sockets).toHaveLength(1)
  })
  client.close()
  sockets[0]?.write(HINTS.repeat(100))
  await eventually(() => {
    expect([gateway.statuses, gateway.inFlight.count]).toEqual([[499], 0])
  })
  expect(gateway.unexpected).toEqual([])
})

it.each([
  ['10,000 of them', HINTS.repeat(10_000) + OK],
  ['a huge one', `HTTP/1.1 103 x\r\nLink: <${'a'.repeat(70_000)}>\r\n\r\n${OK}`],
  ['a bare LF in a link', `HTTP/1.1 103 x\r\nLink: </a>\nSet-Cookie: a=b\r\n\r\n${OK}`],
  ['a bare CR in a link', `HTTP/1.1 103 x\r\nLink: </a>\rSet-Cookie: a=b\r\n\r\n${OK}`],
  ['a NUL in a link', `HTTP/1.1 103 x\r\nLink: </a\0>\r\n\r\n${OK}`],
  ['a folded link', `HTTP/1.1 103 x\r\nLink: </a>,\r\n </b>\r\n\r\n${OK}`],
])('bounds and checks what the upstream sends: %s', async (_, bytes) => {
  const text = await received(await serveUpstream(bytes))
  const { interim, status } = readAll(text)
  expect(status).toBe(504)
  // Of 64 KiB that the upstream may send.
  expect(interim.join('').length).toBeLessThan(80_000)
  expect(new Set(interim).size).toBeLessThan(2)
  expect(text.toLowerCase()).not.toContain('set-cookie')
})

it('extends no time: an upstream that sends one after the other has no longer than others', async () => {
  const served = await serveUpstream('', { action: { timeout: 200 } })
  const drip = setInterval(() => served.sockets[0]?.write(HINTS), 20)
  const text = await received(served).finally(() => {
    clearInterval(drip)
  })
  expect(readAll(text).status).toBe(504)
})
