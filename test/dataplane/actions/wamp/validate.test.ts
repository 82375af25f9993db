import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  checkArgs,
  checkInserted,
  checkKwargs,
  checkUri,
} from '../../../../dataplane/actions/wamp/validate.ts'
import { findInvalid } from '../../../../dataplane/actions/wamp/validate-value.ts'
import { checkOptions, type OptionsKind } from '../../../../dataplane/actions/wamp/options.ts'
import { WampError } from '../../../../dataplane/wamp/session/joined-session.ts'
import type { Value, ValueMap } from '../../../../language/expression/value.ts'
import type { WampMatch } from '../../../../language/wamp-uri.ts'

const thrown = (run: () => unknown): WampError => {
  try {
    run()
  } catch (error) {
    if (error instanceof WampError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const nested = (levels: number): Value =>
  levels === 0 ? 'x' : levels % 2 === 0 ? [nested(levels - 1)] : { a: nested(levels - 1) }

const own = (text: string): ValueMap => JSON.parse(text) as ValueMap

describe('checkInserted', () => {
  it.each<[readonly string[], WampMatch]>([
    [['a', 'b-c'], 'exact'],
    [[''], 'exact'],
  ])('%j may stand in a URI that is matched as %s', (inserted, match) => {
    expect(() => {
      checkInserted('topic', inserted, match)
    }).not.toThrow()
  })

  it.each<[readonly string[], WampMatch]>([
    [['a', 'b.c'], 'exact'],
    [['.'], 'prefix'],
    [['a', ''], 'prefix'],
    [[''], 'wildcard'],
  ])('%j may not stand in a URI that is matched as %s', (inserted, match) => {
    const error = thrown(() => {
      checkInserted('topic', inserted, match)
    })
    expect(error.uri).toBe('wamp.error.invalid_uri')
  })
})

describe('checkUri', () => {
  it.each<[Value, WampMatch]>([
    ['com.acme.add', 'exact'],
    ['Größe', 'exact'],
    ['__proto__.constructor', 'exact'],
    ['com.acme.', 'prefix'],
    ['com..changed', 'wildcard'],
  ])('takes %j, %s', (value, match) => {
    expect(checkUri('topic', value, match)).toBe(value)
  })

  it.each<[Value, WampMatch]>([
    ['', 'exact'],
    ['a..b', 'exact'],
    ['a b', 'exact'],
    ['a#b', 'exact'],
    ['a.', 'exact'],
    ['a\u001fb', 'exact'],
    ['a\ud800', 'exact'],
    ['\u0000a', 'exact'],
    ['a..b', 'prefix'],
    ['', 'wildcard'],
    ['a..b c', 'wildcard'],
    [null, 'exact'],
    [5, 'exact'],
    [['a'], 'exact'],
    [{}, 'exact'],
  ])('refuses %j, %s', (value, match) => {
    const error = thrown(() => checkUri('topic', value, match))
    expect([error.uri, error.wasSent]).toEqual(['wamp.error.invalid_uri', false])
    expect(error.message).toMatch(/^topic: /)
  })
})

describe('findInvalid', () => {
  it.each<[string, Value]>([
    ['null', null],
    ['numbers', [0, -1.5, 2 ** 53]],
    ['text', 'Größe 🦔'],
    ['empty text', ''],
    ['U+0000 within', 'a\u0000'],
    ['bytes that are no text', new Uint8Array([0, 0xd8])],
    ['reserved words', own('{"__proto__": {"constructor": "toString"}}')],
    ['64 levels', nested(64)],
  ])('%s is fit', (_, value) => {
    expect(findInvalid(value)).toBeUndefined()
  })

  it.each<[string, Value, string]>([
    ['a text', '\u0000', ''],
    ['half a pair', ['a', 'b\udc00'], '[1]'],
    ['half a pair at the end', { a: { 'b-c': ['x', '🦔'.slice(0, 1)] } }, '.a.b-c[1]'],
    ['a key', { a: { '\u0000': 1 } }, '.a.�'],
    ['a key of half a pair', { '\ud800b': 1 }, '.�b'],
    ['a reserved word', own('{"__proto__": {"constructor": "\\u0000"}}'), '.__proto__.constructor'],
  ])('%s is not', (_, value, place) => {
    expect(findInvalid(value)).toEqual({ reason: expect.any(String), place })
  })

  it('65 levels are not, and the place is cut', () => {
    const unfit = findInvalid(nested(65))
    expect(unfit?.reason).toBe('nested more than 64 levels deep')
    expect(unfit?.place.length).toBeLessThan(300)
  })

  it.each<[string, Value]>([
    ['texts', 'x'.repeat(2 ** 20)],
    ['keys', { ['k'.repeat(2 ** 20)]: 1 }],
    ['bytes', new Uint8Array(2 ** 20)],
    ['numbers', Array.from({ length: 2 ** 17 }, () => 1.5)],
    ['maps', Array.from({ length: 2 ** 14 }, () => ({}))],
  ])('a value that names large %s many times is not walked to its end', (_, value) => {
    const many = (count: number): Value => Array.from({ length: count }, () => value)
    expect(findInvalid(many(50))).toBeUndefined()
    expect(findInvalid(many(70))?.reason).toBe('larger than any message may be')
  })

  it('a very deep value is no danger', () => {
    let value: Value = []
    for (let level = 0; level < 100_000; level++) value = [value]
    expect(findInvalid(value)).toBeDefined()
  })

  it('finds one bad text anywhere', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(), (json, at) => {
        const good = json as Value
        const strings: string[] = []
        const put = (value: Value): Value => {
          if (typeof value === 'string') {
            strings.push(value)
            return strings.length - 1 === at % 3 ? `${value}\udfff` : value
          }
          if (Array.isArray(value)) return value.map(put)
          if (typeof value !== 'object' || value === null) return value
          return Object.fromEntries(
            Object.entries(value as ValueMap).map(([key, item]) => [`k${key}`, put(item)]),
          )
        }
        const spoiled = put(good)
        expect(findInvalid(spoiled) !== undefined).toBe(strings.length > at % 3)
      }),
    )
  })
})

describe('checkArgs, checkKwargs', () => {
  it.each<[Value, string]>([
    [{}, 'args: expected a list'],
    ['', 'args: expected a list'],
    [null, 'args: expected a list'],
    [new Uint8Array(), 'args: expected a list'],
    [
      ['a', { b: '\u0000' }],
      'args[1].b: the text begins with U+0000, which not every WAMP router carries',
    ],
  ])('args %j', (value, message) => {
    const error = thrown(() => checkArgs(value))
    expect([error.uri, error.message]).toEqual(['wamp.error.invalid_argument', message])
  })

  it.each<[Value, string]>([
    [[], 'kwargs: expected a map'],
    ['', 'kwargs: expected a map'],
    [new Uint8Array(), 'kwargs: expected a map'],
    [
      { customer: { name: '\ud800' } },
      'kwargs.customer.name: the text contains half a surrogate pair, which UTF-8 cannot represent',
    ],
    [
      { _caller: null },
      'kwargs._caller: only the gateway sets it, if the document has options.forward_identity',
    ],
  ])('kwargs %j', (value, message) => {
    const error = thrown(() => checkKwargs(value))
    expect([error.uri, error.message]).toEqual(['wamp.error.invalid_argument', message])
  })

  it('messages are bounded', () => {
    const key = 'k'.repeat(1000)
    const error = thrown(() => checkKwargs({ [key]: { [key]: { [key]: { [key]: '\u0000' } } } }))
    expect(error.message.length).toBeLessThanOrEqual(1024)
  })
})

describe('checkOptions', () => {
  it.each<[OptionsKind, ValueMap]>([
    ['call', { timeout: 0 }],
    ['call', { timeout: 1500, disclose_me: true, transaction_hash: 'x' }],
    ['call', { rkey: 'x', x_own: { any: [1] }, __proto: 1 }],
    ['publish', { acknowledge: false, exclude_me: false, retain: true, disclose_me: true }],
    ['publish', { exclude: [1, 2], eligible: [], exclude_authid: ['a'], eligible_authrole: ['b'] }],
    ['subscribe', { match: 'prefix', get_retained: true }],
    ['register', { match: 'wildcard', invoke: 'roundrobin', concurrency: 1 }],
    ['register', { invoke: 'single', force_reregister: true }],
  ])('%s takes %j', (kind, options) => {
    expect(() => checkOptions(kind, options)).not.toThrow()
  })

  it.each<[OptionsKind, string, Value]>([
    ['call', 'timeout', -1],
    ['call', 'timeout', 1.5],
    ['call', 'timeout', '5'],
    ['call', 'timeout', null],
    ['call', 'timeout', 2 ** 53],
    ['call', 'disclose_me', 'true'],
    ['call', 'forward_identity', 1],
    ['call', 'forward_trace', 'yes'],
    ['publish', 'forward_trace', 1],
    ['call', 'receive_progress', true],
    ['call', 'progress', true],
    ['call', 'caller', 1],
    ['call', 'caller_authid', 'root'],
    ['call', 'forward_for', []],
    ['call', 'enc_algo', 'x'],
    ['call', 'ppt_scheme', 'x'],
    ['call', 'transaction_hash', 1],
    ['publish', 'acknowledge', 1],
    ['publish', 'exclude_me', null],
    ['publish', 'retain', 'x'],
    ['publish', 'exclude', 5],
    ['publish', 'exclude', [1, '2']],
    ['publish', 'eligible', [1.5]],
    ['publish', 'exclude_authid', 'a'],
    ['publish', 'eligible_authrole', [1]],
    ['publish', 'publisher', 1],
    ['publish', 'publisher_authid', 'x'],
    ['publish', 'ppt_cipher', 'x'],
    ['subscribe', 'match', 'regex'],
    ['subscribe', 'match', 'toString'],
    ['subscribe', 'match', ['exact']],
    ['subscribe', 'get_retained', 'x'],
    ['subscribe', 'forward_identity', true],
    ['subscribe', 'forward_trace', true],
    ['register', 'match', 1],
    ['register', 'invoke', 'all'],
    ['register', 'concurrency', 0],
    ['register', 'concurrency', 1.5],
    ['register', 'force_reregister', null],
    ['register', 'forward_identity', true],
    ['register', 'forward_trace', true],
  ])('%s refuses %s: %j', (kind, name, value) => {
    const error = thrown(() => checkOptions(kind, { [name]: value }))
    expect(error.uri).toBe('wamp.error.invalid_argument')
    expect(error.message).toContain(`options.${name}: `)
  })

  it.each<Value>([[], null, '', 'x', 5])('%j is no options', (value) => {
    expect(thrown(() => checkOptions('call', value)).message).toBe('options: expected a map')
  })

  it('texts in unknown options are checked too', () => {
    const error = thrown(() => checkOptions('call', { x: ['\ud800'] }))
    expect(error.message).toMatch(/^options\.x\[0\]: /)
  })

  it.each<[OptionsKind, ValueMap, ValueMap]>([
    ['call', { timeout: 5, forward_identity: true, x: 1 }, { x: 1 }],
    ['call', { forward_trace: true, x: 1 }, { x: 1 }],
    ['publish', { x: 1 }, { exclude_me: false, x: 1, acknowledge: true }],
    ['publish', { acknowledge: false }, { exclude_me: false, acknowledge: true }],
    ['publish', { exclude_me: true }, { exclude_me: true, acknowledge: true }],
    ['subscribe', { timeout: 5, match: 'prefix' }, { match: 'prefix' }],
    ['register', { match: 'exact' }, { match: 'exact' }],
  ])('%s %j is sent as %j', (kind, options, sent) => {
    expect(checkOptions(kind, options).sent).toEqual(sent)
  })

  it('says what the gateway keeps for itself', () => {
    expect(checkOptions('call', { timeout: 2 ** 52, forward_identity: true })).toEqual({
      sent: {},
      timeoutMs: 2 ** 31 - 1,
      forwardsIdentity: true,
      forwardsTrace: false,
      match: 'exact',
    })
  })
})
