import { describe, expect, it } from '@jest/globals'
import { formatAddress, parseAddress } from '../../telemetry/settings-value.ts'

describe('parseAddress', () => {
  it.each([
    '127.0.0.1:80',
    'localhost:0',
    'a.b-c.example:65535',
    '[::1]:8080',
    '[::]:0',
    ':0',
    ':8080',
    'unix:/run/a.sock',
  ])('%s comes back as it was', (text) => {
    const address = parseAddress(text)
    expect(address && formatAddress(address)).toBe(text)
  })

  it.each([
    '',
    '8080',
    ':',
    ':x',
    ':65536',
    'host:',
    'host:65536',
    'host:-1',
    'host:1:2',
    '::1:80',
    '[::1]',
    '[x]:1',
    'http://host:80',
    'a b:1',
    'user@host:1',
    'unix:relative',
    'unix:',
    `unix:/${'x'.repeat(120)}`,
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })
})
