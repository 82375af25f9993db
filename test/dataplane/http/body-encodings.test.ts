// Charsets and content codings of request bodies that a document reads, and the charset of what the gateway writes.

import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway()
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  if (gateway.unexpected.length > 0) throw gateway.unexpected[0] as Error
})

const JSON_TYPE = 'application/json'
const READS = answers({ got: '{{request.body}}', length: '{{request.body_length}}' })
const json = Buffer.from('{"a":"ë"}')

const load = (post: object, more: object = {}): Promise<void> =>
  gateway.load(apiOf({ '/x': { post, ...more } }))

const post = (body: Buffer, headers: Readonly<Record<string, string>>) =>
  gateway.ask('POST', '/x', { body, headers: { 'content-type': JSON_TYPE, ...headers } })

describe('the content coding of a body that is read', () => {
  it.each([
    ['gzip', gzipSync(json)],
    ['X-GZIP', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['br', brotliCompressSync(json)],
    ['identity', json],
    ['identity, gzip', gzipSync(json)],
  ])('%s is decoded', async (coding, bytes) => {
    await load(READS)
    const response = await post(bytes, { 'content-encoding': coding })
    expect(response.json()).toEqual({ got: { a: 'ë' }, length: bytes.length })
  })

  it.each([
    ['gzip, gzip', gzipSync(gzipSync(json))],
    ['gzip, br', brotliCompressSync(gzipSync(json))],
    ['zstd', zstdCompressSync(json)],
    ['rot13', json],
  ])('%s is 415, which says what is read', async (coding, bytes) => {
    await load(READS)
    const response = await post(bytes, { 'content-encoding': coding })
    expect([response.status, response.headers['accept-encoding']]).toEqual([
      415,
      'gzip, deflate, br',
    ])
    expect(response.json()).toMatchObject({ code: 'svc.error.unsupported_media_type' })
  })

  it.each([
    ['no gzip', Buffer.from('{}')],
    ['cut short', gzipSync(json).subarray(0, 14)],
    ['no JSON', gzipSync('{')],
  ])('%s is 400', async (_, bytes) => {
    await load(READS)
    const response = await post(bytes, { 'content-encoding': 'gzip' })
    expect([response.status, response.json()]).toMatchObject([
      400,
      { code: 'svc.error.invalid_data' },
    ])
  })

  it('a bomb is 413, at the limit of plain bodies, and its connection goes on', async () => {
    await load(READS, { body_max_bytes: 1000 })
    const exact = `"${'x'.repeat(998)}"`
    expect((await post(gzipSync(exact), { 'content-encoding': 'gzip' })).status).toBe(200)
    for (const coding of ['gzip', 'br'] as const) {
      const compress = coding === 'gzip' ? gzipSync : brotliCompressSync
      const response = await post(compress(`${exact} `), { 'content-encoding': coding })
      expect([response.status, response.headers.connection]).toEqual([413, 'keep-alive'])
    }
  })

  it('too many values are 413 in a coding too', async () => {
    await load(READS)
    const values = gzipSync(`[${'0,'.repeat(1_000_000)}0]`)
    expect((await post(values, { 'content-encoding': 'gzip' })).status).toBe(413)
  })

  it('what it inflates to counts as memory, of which the largest owner is closed', async () => {
    await using short = await serveGateway({ memory: new MemoryBudget({ size: 1 << 24 }) })
    await short.load(apiOf({ '/x': { post: READS } }))
    const headers = { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' }
    const body = gzipSync(`"${'x'.repeat(20_000_000)}"`)
    await expect(short.ask('POST', '/x', { body, headers })).rejects.toThrow('socket hang up')
    expect((await short.ask('POST', '/x', { body: gzipSync('1'), headers })).status).toBe(200)
  })

  it('nothing is decoded of a body that nothing reads', async () => {
    await load(answers('x'))
    expect((await post(json, { 'content-encoding': 'rot13' })).status).toBe(200)
  })
})

describe('the charset of a body that is read', () => {
  it.each([
    ['application/json; charset=iso-8859-1', 415],
    ['application/json; charset="utf-16"', 415],
    ['application/x-www-form-urlencoded; charset=windows-1252', 415],
    ['application/json; charset=UTF-8', 200],
    ['application/json; charset="utf-8"; x=y', 200],
  ])('%s is %i', async (type, status) => {
    await load(answers('{{request.body}}'))
    const body = type.includes('json') ? json : Buffer.from('a=1')
    expect((await post(body, { 'content-type': type })).status).toBe(status)
  })

  it.each([
    ['application/json; charset=iso-8859-1', 'reads the type in UTF-8 alone'],
    ['text/csv; charset=utf-8', 'This operation accepts application/json'],
  ])('is refused as %s with what is accepted', async (type, accepted) => {
    await load(answers('{{request.body}}'))
    expect((await post(json, { 'content-type': type })).text).toContain(accepted)
  })
})

describe('the charset of what the gateway writes', () => {
  it.each([
    ['text/plain; charset=iso-8859-1', 'text/plain; charset=utf-8', 'ë'],
    ['text/html;Charset="windows-1252";x=y', 'text/html; charset=utf-8;x=y', 'ë'],
    ['application/json; charset=utf-16', 'application/json; charset=utf-8', '"ë"'],
    ['text/plain; charset=UTF-8', 'text/plain; charset=UTF-8', 'ë'],
    ['text/plain', 'text/plain', 'ë'],
  ])('%s is written as %s', async (type, written, text) => {
    await load(answers('ë', { on_result: { headers: { 'content-type': type } } }))
    const response = await post(json, {})
    expect([response.headers['content-type'], response.text]).toEqual([written, text])
  })
})
