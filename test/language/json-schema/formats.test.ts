import { describe, expect, it } from '@jest/globals'
import { FORMATS } from '../../../language/json-schema/formats.ts'

describe('formats', () => {
  it.each([
    ['date', '2024-02-29', true],
    ['date', '2023-02-29', false],
    ['date', '2024-2-9', false],
    ['time', '23:59:60Z', true],
    ['time', '22:59:60Z', false],
    ['time', '15:59:60-08:00', true],
    ['time', '12:00:00', false],
    ['date-time', '2024-02-29T12:00:00.123+01:00', true],
    ['date-time', '2024-02-29 12:00:00Z', false],
    ['email', 'a.b+c@example.com', true],
    ['email', 'a..b@example.com', false],
    ['email', '@example.com', false],
    ['hostname', 'a-b.example', true],
    ['hostname', '-a.example', false],
    ['hostname', `${'a'.repeat(64)}.example`, false],
    ['ipv4', '192.0.2.1', true],
    ['ipv4', '192.0.2.01', false],
    ['ipv6', '2001:db8::1', true],
    ['ipv6', '2001:db8::1%eth0', false],
    ['uri', 'https://example.com/a?b=%20', true],
    ['uri', '/a', false],
    ['uri', 'https://example.com/%zz', false],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', true],
    ['uuid', '123e4567e89b12d3a456426614174000', false],
  ])('%s takes %s: %s', (name, text, isValid) => {
    expect(FORMATS[name]?.(text)).toBe(isValid)
  })

  it.each(Object.keys(FORMATS))('%s refuses a text of a mebibyte', (name) => {
    expect(FORMATS[name]?.(`a@${'a.'.repeat(524_288)}`)).toBe(false)
  })
})
