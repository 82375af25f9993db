import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ByteCollector } from '../../../dataplane/memory/byte-collector.ts'

const collect = (chunks: readonly Uint8Array[]): ByteCollector => {
  const body = new ByteCollector()
  for (const chunk of chunks) body.add(Buffer.from(chunk))
  return body
}

describe('ByteCollector', () => {
  it('joins chunks of any size in their order', () => {
    const size = fc.oneof(fc.nat(20), fc.integer({ min: 1000, max: 1100 }), fc.nat(70_000))
    fc.assert(
      fc.property(fc.array(size, { maxLength: 40 }), (sizes) => {
        const chunks = sizes.map((length, index) => Buffer.alloc(length, index + 1))
        const body = collect(chunks)
        expect(body.length).toBe(sizes.reduce((sum, each) => sum + each, 0))
        expect(body.join().equals(Buffer.concat(chunks))).toBe(true)
      }),
    )
  })

  it('gives an only chunk as it is', () => {
    const chunk = Buffer.from('whole')
    const body = new ByteCollector()
    body.add(chunk)
    expect(body.join()).toBe(chunk)
  })

  it('is empty without chunks', () => {
    expect(new ByteCollector().join()).toHaveLength(0)
  })

  it('copies small chunks: a body that comes byte by byte keeps no object for each', () => {
    const body = new ByteCollector()
    const chunk = Buffer.alloc(1)
    for (const byte of Buffer.from('-abc')) {
      chunk[0] = byte
      body.add(chunk)
    }
    // The first one alone is kept as it came, for most bodies are one chunk.
    expect(body.join().subarray(1).toString()).toBe('abc')
  })
})
