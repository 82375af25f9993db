import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import {
  decodeResponse,
  type DecodedResponse,
} from '../../../../dataplane/actions/forward/response-body.ts'
import { createUnboundedMemory, MemoryBudget } from '../../../../dataplane/memory/memory-budget.ts'
import { writeMsgpack } from '../../../../dataplane/codec/write-msgpack.ts'

type Headers = Readonly<Record<string, string>>

const decode = (
  headers: Headers,
  bytes: Buffer | string,
  isLenient = false,
  memory = createUnboundedMemory(),
): Promise<DecodedResponse> =>
  new Promise((resolve, reject) => {
    decodeResponse(
      Object.entries(headers),
      Buffer.from(bytes as string),
      { isLenient, memory: memory.open(), defer: setImmediate },
      (fault, result) => {
        if (result !== undefined) resolve(result)
        else reject(fault instanceof Error ? fault : new Error(fault))
      },
    )
  })

const JSON_TYPE = { 'content-type': 'application/json' }
const json = Buffer.from('{"a":1}')

/** Neither UTF-8 nor text. */
const BINARY = Buffer.from([0x25, 0xe2, 0xe3])

describe('decodeResponse', () => {
  it.each<[string, Headers, Buffer | string, unknown]>([
    ['JSON', { 'content-type': 'application/json; charset=utf-8' }, json, { a: 1 }],
    ['a kind of JSON', { 'content-type': 'application/problem+json' }, json, { a: 1 }],
    [
      'msgpack',
      { 'content-type': 'application/msgpack' },
      writeMsgpack({ a: [1, 'two'] }),
      { a: [1, 'two'] },
    ],
    ['text', { 'content-type': 'text/plain' }, 'čau', 'čau'],
    ['a form is text', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1', 'a=1'],
    ['no type', {}, 'x', 'x'],
    ['a replacement character', {}, '\uFFFD', '\uFFFD'],
    ['nothing', JSON_TYPE, '', ''],
    ['reserved words', JSON_TYPE, '{"constructor":1}', { constructor: 1 }],
  ])('%s', async (_, headers, bytes, body) => {
    const result = await decode(headers, bytes)
    expect(result).toEqual({ body, headers: Object.entries(headers) })
  })

  it('bytes that are no UTF-8 are kept', async () => {
    const { body } = await decode({ 'content-type': 'image/png' }, Buffer.from([0x89, 0x50, 0xff]))
    expect(body).toEqual(Buffer.from([0x89, 0x50, 0xff]))
  })

  it.each([
    ['gzip', gzipSync(json)],
    ['X-GZIP', gzipSync(json)],
    ['br', brotliCompressSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['zstd', zstdCompressSync(json)],
    ['br, gzip', gzipSync(brotliCompressSync(json))],
    ['identity', json],
    ['', json],
  ])('%s', async (coding, bytes) => {
    const headers = {
      ...JSON_TYPE,
      'content-encoding': coding,
      'content-length': String(bytes.length),
    }
    const result = await decode(headers, bytes)
    expect(result.body).toEqual({ a: 1 })
    const isCoded = bytes !== json
    expect(result.headers.map(([name]) => name)).toEqual(
      isCoded ? ['content-type'] : ['content-type', 'content-encoding', 'content-length'],
    )
  })

  it('an unknown coding is an error, unless the body is that of one', async () => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'rot13' }
    await expect(decode(headers, 'nopx')).rejects.toThrow('a coding that is not decoded here')
    expect((await decode(headers, 'nopx', true)).body).toBe('nopx')
    expect((await decode(headers, '')).body).toBe('')
  })

  it.each<[string, Buffer, unknown]>([
    ['text/plain; charset=iso-8859-1', Buffer.from('Zo\xeb', 'latin1'), 'Zoë'],
    ['text/plain;Charset="ISO-8859-1"; x=y', Buffer.from('Zo\xeb', 'latin1'), 'Zoë'],
    ['text/plain; charset=windows-1252', Buffer.from([0x80]), '€'],
    ['text/plain; charset=utf-16', Buffer.from('Zoë', 'utf16le'), 'Zoë'],
    ['text/html; charset=shift_jis', Buffer.from([0x82, 0xa0]), 'あ'],
    ['text/plain; charset=utf-8', Buffer.from('\uFEFFZoë'), 'Zoë'],
    ['text/plain', Buffer.from('\uFEFFZoë'), 'Zoë'],
    ['application/xml; charset=us-ascii', Buffer.from('<a/>'), '<a/>'],
    ['application/json; charset=iso-8859-1', Buffer.from('{"a":"\xeb"}', 'latin1'), { a: 'ë' }],
    [
      'application/problem+json; charset=utf-16be',
      Buffer.from('{"a":"ë"}', 'utf16le').swap16(),
      { a: 'ë' },
    ],
    ['application/json; charset=utf-8', Buffer.from('\uFEFF{"a":"ë"}'), { a: 'ë' }],
    ['image/svg+xml; charset=iso-8859-1', Buffer.from('<a>\xeb</a>', 'latin1'), '<a>ë</a>'],
    ['application/pdf; charset=iso-8859-1', BINARY, BINARY],
    ['application/octet-stream; charset=utf-8', BINARY, BINARY],
    ['application/zip; charset=binary', BINARY, BINARY],
    ['application/msgpack; charset=utf-16', writeMsgpack({ a: 1 }), { a: 1 }],
    ['text/plain; charset=latin1', gzipSync(Buffer.from([0xeb])), 'ë'],
  ])('%s is read by its charset, where it has one', async (type, bytes, body) => {
    const coding = type.endsWith('latin1') ? { 'content-encoding': 'gzip' } : {}
    expect((await decode({ 'content-type': type, ...coding }, bytes)).body).toEqual(body)
  })

  it.each([
    ['text/plain; charset=utf-8', Buffer.from([0x5a, 0xeb])],
    ['text/plain; charset=utf-16', Buffer.from([0x00, 0xd8, 0x00])],
    ['text/plain; charset=none', Buffer.from('x')],
    ['text/plain; charset=', Buffer.from('x')],
    ['application/json; charset=utf-16', Buffer.from('{}')],
    ['text/plain; charset=windows-1252', Buffer.alloc(10_000_000, 0x80)],
  ])('%s that does not decode, or to too much, is an error', async (type, bytes) => {
    const headers = { 'content-type': type }
    await expect(decode(headers, bytes)).rejects.toThrow(/^The upstream sent/)
    expect((await decode(headers, bytes, true)).body).toBeDefined()
  })

  it('is refused where there is no memory for what it inflates to', async () => {
    const memory = new MemoryBudget({ size: 1 << 20 })
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    await expect(decode({ 'content-encoding': 'gzip' }, bomb, false, memory)).rejects.toThrow(
      'no memory',
    )
  })

  it('an empty body is not inflated', async () => {
    expect((await decode({ ...JSON_TYPE, 'content-encoding': 'gzip' }, '')).body).toBe('')
  })

  it.each<[string, Headers, Buffer]>([
    ['broken gzip', { 'content-encoding': 'gzip' }, Buffer.from('not gzip')],
    ['gzip cut short', { 'content-encoding': 'gzip' }, gzipSync(json).subarray(0, 12)],
    ['a bomb', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(25_000_001))],
    [
      'a bomb in layers',
      { 'content-encoding': 'gzip, gzip' },
      gzipSync(gzipSync(Buffer.alloc(26_000_000))),
    ],
    ['too many layers', { 'content-encoding': 'gzip, gzip, gzip, gzip' }, gzipSync(json)],
    ['broken JSON', JSON_TYPE, Buffer.from('{"a"')],
    ['JSON that is no UTF-8', JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])],
    ['broken msgpack', { 'content-type': 'application/msgpack' }, Buffer.from([0xc1])],
  ])('%s is an error', async (_, headers, bytes) => {
    await expect(decode(headers, bytes)).rejects.toThrow(/^The upstream sent/)
  })

  it('exactly the limit is read', async () => {
    const { body } = await decode(
      { 'content-encoding': 'gzip' },
      gzipSync(Buffer.alloc(25_000_000, 'x')),
    )
    expect(body).toHaveLength(25_000_000)
  })

  it('of an error, what can’t be decoded is text', async () => {
    expect((await decode(JSON_TYPE, '<html>', true)).body).toBe('<html>')
  })
})
