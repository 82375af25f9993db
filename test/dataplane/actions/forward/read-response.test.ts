// What an upstream is asked for where the document reads the body of its response, and which responses are of no use.

import { describe, expect, it } from '@jest/globals'
import { constant } from '../../../../language/expression/template.ts'
import { call, map, read, READ_ALL } from './forward-fixture.ts'
import { answering, gatewayTo, serving } from './forward-rig.ts'

const CONDITIONS = {
  'if-none-match': '"a"',
  'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT',
  'if-range': '"a"',
  range: 'bytes=0-1',
  'if-match': '"b"',
  'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT',
} as const

const PASSES = {}
const READS = { onResult: { declared: true, body: map({ b: read('action.result.body') }) } }
const READS_MEMBER = {
  onResult: { declared: true, body: map({ b: read('action.result.body.id') }) },
}
const READS_NONE = { onResult: { declared: true, body: constant('own') } }

/** The headers that reach the upstream. */
const sentUp = async (
  headers: Readonly<Record<string, string>>,
  parts: Parameters<typeof gatewayTo>[1],
) => {
  let received: unknown
  const server = await serving((request, response) => {
    received = request.headers
    response.end('{}')
  })
  await call(await gatewayTo(server.origin, parts), { headers })
  return received
}

describe('the headers of the request', () => {
  it.each<[string, Parameters<typeof gatewayTo>[1]]>([
    ['reads the body', READS],
    ['passes headers on as a map', { ...READS, action: { headers: read('request.headers') } }],
    [
      'names a header',
      { ...READS, action: { headers: map({ range: read('request.headers.range') }) } },
    ],
  ])('nothing of the client asks for less where the document %s', async (_, parts) => {
    const headers = await sentUp(CONDITIONS, parts)
    for (const name of ['if-none-match', 'if-modified-since', 'if-range', 'range'])
      expect(headers).not.toHaveProperty(name)
  })

  it('preconditions of changes go up', async () => {
    const { 'if-match': match, 'if-unmodified-since': since } = CONDITIONS
    expect(await sentUp(CONDITIONS, READS)).toMatchObject({
      'if-match': match,
      'if-unmodified-since': since,
    })
  })

  it.each([
    ['passes the body through', PASSES],
    ['sends a body of its own', READS_NONE],
  ])('all go up where the document %s', async (_, parts) => {
    expect(await sentUp(CONDITIONS, parts)).toMatchObject(CONDITIONS)
  })

  it('what the document itself asks for goes up', async () => {
    const action = { headers: map({ range: constant('bytes=0-9') }) }
    expect(await sentUp(CONDITIONS, { ...READS, action })).toMatchObject({ range: 'bytes=0-9' })
  })

  it.each([
    ['gzip, br', 'gzip, br'],
    ['xz, GZIP;q=0.5, exi', 'GZIP;q=0.5'],
    ['xz', 'identity'],
    ['*', 'identity'],
    ['', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['br; q = 0.000, zstd', 'zstd'],
    ['identity;q=0, xz', 'identity'],
  ])('of the codings %p remain %p', async (accepted, sent) => {
    const headers = { 'accept-encoding': accepted }
    expect(await sentUp(headers, READS)).toMatchObject({ 'accept-encoding': sent })
    expect(await sentUp(headers, PASSES)).toMatchObject({ 'accept-encoding': accepted })
  })
})

describe('a response without the whole body', () => {
  const NOT_MODIFIED = 'HTTP/1.1 304 Not Modified\r\n\r\n'
  const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n'
  const PART =
    'HTTP/1.1 206 Partial Content\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nab'
  const asked = { headers: map({ 'if-none-match': constant('"x"') }) }

  type Parts = NonNullable<Parameters<typeof gatewayTo>[1]>

  it.each<[string, string, Parts]>([
    ['204', EMPTY, READS_MEMBER],
    ['205', EMPTY.replace('204', '205'), READS_MEMBER],
    ['206', PART, READS_MEMBER],
    ['304 that was asked for', NOT_MODIFIED, { ...READS_MEMBER, action: asked }],
    ['304', NOT_MODIFIED, READS_MEMBER],
    ['304 where no member is needed', NOT_MODIFIED, READS],
  ])('%s is an error of the upstream', async (_, response, parts) => {
    const server = await answering(response)
    const gateway = await gatewayTo(server.origin, { ...parts, onError: READ_ALL.onError })
    const { error } = (await call(gateway)).json()
    expect(error).toMatchObject({ error_uri: 'svc.error.bad_gateway' })
    expect(gateway.failures).toMatchObject([{ reason: 'partial_response' }])
  })

  it.each<[string, string, Parts, object]>([
    ['204', EMPTY, READS, { status_code: 204, body: '' }],
    ['206', PART, READS, { status_code: 206, body: 'ab' }],
    [
      '304 that was asked for',
      NOT_MODIFIED,
      { ...READS, action: asked },
      { status_code: 304, body: '' },
    ],
    ['304 where nothing is read', NOT_MODIFIED, READS_NONE, { status_code: 304, body: '' }],
  ])('%s is a result where no member is needed', async (_, response, parts, result) => {
    const server = await answering(response)
    const gateway = await gatewayTo(server.origin, parts)
    expect((await call(gateway)).json()).toMatchObject({ result })
  })
})
