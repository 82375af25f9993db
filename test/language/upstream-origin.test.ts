import { describe, expect, it } from '@jest/globals'
import { readOrigin } from '../../language/upstream-origin.ts'

describe('readOrigin', () => {
  it.each([
    ['orders', 'http://orders'],
    ['orders:8080', 'http://orders:8080'],
    ['http://orders:80', 'http://orders'],
    ['HTTPS://Orders.Example:8443/', 'https://orders.example:8443'],
    ['https://orders:443', 'https://orders'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['localhost', 'http://localhost'],
    ['http://constructor', 'http://constructor'],
    // Other spellings of 169.254.169.254 are normalised before anything is checked.
    ['http://2852039166', 'http://169.254.169.254'],
    ['http://0xa9.254.169.254', 'http://169.254.169.254'],
    ['http://0251.0376.0251.0376', 'http://169.254.169.254'],
    ['http://169.254.43518.', 'http://169.254.169.254'],
    ['http://[::ffff:169.254.169.254]', 'http://[::ffff:a9fe:a9fe]'],
  ])('%s → %s', (text, origin) => {
    expect(readOrigin(text)).toEqual({ ok: true, origin })
  })

  it.each([
    ['', 'host'],
    ['ftp://orders', 'http'],
    ['file:///etc/passwd', 'http'],
    ['http://user@orders', 'user'],
    ['http://:pass@orders', 'user'],
    ['http://@orders', 'user'],
    ['http://orders/v1', 'path'],
    ['orders?x', 'path'],
    ['http://orders/..', 'path'],
    ['http:///orders', 'path'],
    ['http://orders/?', 'path'],
    ['http://orders#', 'path'],
    ['http://or ders', 'host'],
    ['http://good\\@evil', 'host'],
    ['http://ev\til', 'host'],
    ['http://orders\r\nx: y', 'host'],
    ['http://orders:99999', 'host'],
    ['http://256.1.1.1', 'host'],
    ['http://[::1', 'host'],
  ])('%j is refused', (text, word) => {
    const reading = readOrigin(text)
    expect(reading).toEqual({ ok: false, message: expect.stringContaining(word) })
  })
})
