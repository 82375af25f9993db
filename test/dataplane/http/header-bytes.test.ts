// Characters beyond ASCII in headers, on the wire, in both directions (behaviour §5).

import { expect, it } from '@jest/globals'
import { headerValues } from '../../support/raw-client.ts'
import { serveUpstream } from './response/forward-server.ts'

const LATIN1 = 'Zo\xeb'
const UTF8 = 'Zo\xc3\xab'
/** The text Łukasz, which Latin-1 does not have. */
const BEYOND = '\xc5\x81ukasz'

type Row = readonly [string, object | undefined, came: string, leaves: string]

const reads = (root: string): readonly Row[] => {
  const read = { 'x-name': `{{${root}.x-name}}` }
  const all = `{{${root} |> put(x-more, 1)}}` as unknown as object
  return [
    ['nobody reads it: Latin-1', undefined, LATIN1, LATIN1],
    ['nobody reads it: UTF-8', undefined, UTF8, UTF8],
    ['nobody reads it: neither, in part', undefined, UTF8 + LATIN1, UTF8 + LATIN1],
    ['it is read: Latin-1', read, LATIN1, UTF8],
    ['it is read: UTF-8', read, UTF8, UTF8],
    ['it is read: UTF-8 beyond Latin-1', read, BEYOND, BEYOND],
    ['all headers are read: Latin-1', all, LATIN1, UTF8],
    ['all headers are read: UTF-8', all, UTF8, UTF8],
    ['it is written', { 'x-name': 'Zoë Ł' }, '', `${UTF8} \xc5\x81`],
  ]
}

it.each(reads('request.headers'))('to an upstream: %s', async (_, headers, came, leaves) => {
  const action = headers === undefined ? {} : { headers }
  const { gateway, requests } = await serveUpstream(
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    { action },
  )
  await using client = await gateway.raw(
    `GET /x HTTP/1.1\r\nHost: a.test\r\nX-Name: ${came}\r\n\r\n`,
  )
  expect((await client.response()).status).toBe(200)
  expect(/^x-name: (.*)\r$/m.exec(requests[0] ?? '')?.[1]).toBe(leaves)
})

it.each(reads('action.result.headers'))('to a client: %s', async (_, headers, came, leaves) => {
  const { gateway } = await serveUpstream(
    `HTTP/1.1 200 OK\r\nX-Name: ${came}\r\nContent-Length: 0\r\n\r\n`,
    headers === undefined ? {} : { response: { on_result: { headers } } },
  )
  await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n')
  expect(headerValues(await client.response(), 'x-name')).toEqual([leaves])
})
