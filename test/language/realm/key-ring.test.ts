import { describe, expect, it } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { createKeyRing, createStateKeys, parseKeyRing } from '../../../language/realm/key-ring.ts'

const K = Buffer.alloc(32, 7).toString('base64url')
const K2 = Buffer.alloc(32, 8).toString('base64url')

const faultOf = (text: string): string => {
  try {
    return JSON.stringify(parseKeyRing(text))
  } catch (error) {
    return String(error)
  }
}

describe('parseKeyRing', () => {
  it('reads keys in their order', () => {
    const ring = parseKeyRing(
      JSON.stringify({
        keys: [
          { kid: 'b', k: K },
          { kid: 'a', k: K2 },
        ],
      }),
    )
    expect(ring).toEqual({
      keys: [
        { kid: 'b', k: K },
        { kid: 'a', k: K2 },
      ],
    })
  })

  it('reads what it made', () => {
    const ring = createKeyRing(randomBytes)
    expect(parseKeyRing(JSON.stringify(ring))).toEqual(ring)
    expect(createKeyRing(randomBytes)).not.toEqual(ring)
  })

  it.each([
    ['', 'it is not JSON'],
    [`{"keys": [{"kid": "a", "k": "${K}"`, 'it is not JSON'],
    ['null', 'the file must be a JSON object'],
    ['[]', 'the file must be a JSON object'],
    ['{}', '"keys" must be a list of 1 to 64 keys'],
    ['{"keys": []}', '"keys" must be a list of 1 to 64 keys'],
    ['{"__proto__": {"keys": [{"kid": "a", "k": "x"}]}}', '"keys" must be a list'],
    [JSON.stringify({ keys: Array(65).fill({ kid: 'a', k: K }) }), '"keys" must be a list'],
    ['{"keys": [1]}', 'key 1 must be a JSON object'],
    [JSON.stringify({ keys: [{ k: K }] }), '"kid" of key 1'],
    [JSON.stringify({ keys: [{ kid: '', k: K }] }), '"kid" of key 1'],
    [JSON.stringify({ keys: [{ kid: 'a b', k: K }] }), '"kid" of key 1'],
    [JSON.stringify({ keys: [{ kid: 'x'.repeat(129), k: K }] }), '"kid" of key 1'],
    [JSON.stringify({ keys: [{ kid: 'a', k: 'c2VjcmV0' }] }), '"k" of key 1 must be 32 bytes'],
    [JSON.stringify({ keys: [{ kid: 'a', k: `${K}!` }] }), '"k" of key 1 must be 32 bytes'],
    [
      JSON.stringify({
        keys: [
          { kid: 'a', k: K },
          { kid: 'a', k: K2 },
        ],
      }),
      'two keys have the same',
    ],
  ])('%s: %s', (text, message) => {
    expect(() => parseKeyRing(text)).toThrow(message)
    expect(faultOf(text)).not.toContain('c2VjcmV0')
    expect(faultOf(text)).not.toContain(K.slice(0, 12))
  })
})

describe('createStateKeys', () => {
  it('uses the newest and finds all', () => {
    const keys = createStateKeys({
      keys: [
        { kid: 'b', k: K },
        { kid: 'a', k: K2 },
      ],
    })
    expect(keys.current).toEqual({ kid: 'b', key: Buffer.alloc(32, 7) })
    expect(keys.byKid('a')?.key).toEqual(Buffer.alloc(32, 8))
    for (const kid of ['c', '__proto__', 'constructor', '']) expect(keys.byKid(kid)).toBeUndefined()
  })

  it('is not made of nothing', () => {
    expect(() => createStateKeys({ keys: [] })).toThrow('empty')
  })
})
