import { describe, expect, it } from '@jest/globals'
import { redactFields } from '../../telemetry/redact.ts'

const redact = (fields: object): Record<string, unknown> =>
  redactFields(fields as Record<string, unknown>, false)

describe('redactFields', () => {
  it.each([
    'authorization',
    'Authorization',
    'Proxy-Authorization',
    'cookie',
    'set-cookie',
    'password',
    'adminPassword',
    'password_hash',
    'client_secret',
    'clientSecret',
    'callback_secret',
    'secret',
    'token',
    'X-CSRF-Token',
    'refresh_token',
    'api_key',
    'apiKeys',
    'api_keys',
    'key_sha256',
    'signing_keys',
    'private-key',
    'ticket',
  ])('masks %s at any depth', (name) => {
    expect(redact({ a: [{ [name]: 'hush' }] })).toEqual({ a: [{ [name]: '[redacted]' }] })
  })

  it.each(['token_path', 'code', 'key', 'username', 'error_uri', 'kid', 'constructor'])(
    'shows %s',
    (name) => {
      expect(redact({ [name]: 'plain' })).toEqual({ [name]: 'plain' })
    },
  )

  it('masks maps, lists and numbers, but no flag and nothing absent', () => {
    expect(redact({ signing_keys: [{}], token: 7, secret: true, password: null })).toEqual({
      signing_keys: '[redacted]',
      token: '[redacted]',
      secret: true,
      password: null,
    })
  })

  it('masks the private half of a JWK', () => {
    expect(
      redact({ jwk: { kty: 'EC', crv: 'P-256', x: 'a', d: 'b' }, other: { d: 'shown' } }),
    ).toEqual({
      jwk: { kty: 'EC', crv: 'P-256', x: 'a', d: '[redacted]' },
      other: { d: 'shown' },
    })
  })

  it.each([
    ['redis://user:pass@host:1/0', 'redis://[redacted]@host:1/0'],
    ['sent Authorization: Bearer abcdefgh.ijkl', 'sent Authorization: Bearer [redacted]'],
    ['basic dXNlcjpwYXNz', 'basic [redacted]'],
    ['a basic thing', 'a basic thing'],
    ['mail a@b', 'mail a@b'],
  ])('in a text: %s', (text, expected) => {
    expect(redact({ text })).toEqual({ text: expected })
  })

  it('keeps a reserved word a plain key', () => {
    const fields = JSON.parse('{"__proto__": {"password": "x"}, "a": 1}') as object
    expect(JSON.stringify(redact(fields))).toBe('{"__proto__":{"password":"[redacted]"},"a":1}')
    expect(Object.getPrototypeOf(redact(fields))).toBe(Object.prototype)
  })

  it.each<[string, unknown, unknown]>([
    ['bytes', Buffer.from('secret'), '[6 bytes]'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a date that is none', new Date(NaN), null],
    ['a URL', new URL('https://u:p@h/path?token=x'), 'https://h/path'],
    ['a map', new Map([['token', 'x']]), '[1 entries]'],
    ['a big integer', 10n, '10'],
    ['a function', () => 1, undefined],
    ['a symbol', Symbol('x'), undefined],
    ['a number', 1.5, 1.5],
  ])('%s', (_, value, expected) => {
    expect(redact({ value })).toEqual({ value: expected })
  })

  it('ends on a cycle, a huge list and a long text', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(JSON.stringify(redact(cycle))).toContain('[deeper]')
    expect(redact({ list: Array(1000).fill(1) })['list']).toHaveLength(100)
    expect(String(redact({ text: 'x'.repeat(10_000) })['text'])).toHaveLength(4097)
    const wide = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`k${i}`, i]))
    expect(redact(wide)).toHaveProperty(['…'], '30 more')
  })

  it('survives a getter that throws', () => {
    const trap = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    expect(redact(trap)).toEqual({ a: '[unreadable]' })
  })

  it('shows an error without what libraries hang on it', () => {
    const error = Object.assign(new RangeError('bad'), { code: 'E_BAD', request: { headers: {} } })
    expect(redact({ error })).toEqual({
      error: { type: 'RangeError', message: 'bad', code: 'E_BAD' },
    })
  })
})
