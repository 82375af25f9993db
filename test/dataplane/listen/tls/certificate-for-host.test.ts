import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import {
  createTlsHostTable,
  endOfCertificate,
  namesOfCertificate,
  type TlsHost,
} from '../../../../dataplane/listen/tls/certificate-for-host.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'

const host = (folder: string, ...names: readonly string[]): TlsHost => ({
  folder,
  names,
  endsMs: 0,
  cert: Buffer.alloc(0),
  key: Buffer.alloc(0),
  context: createSecureContext(),
})

describe('find', () => {
  const table = createTlsHostTable([
    host('a', 'a.test', '*.shop.test', 'both.test'),
    host('b', 'special.shop.test', 'both.test'),
    host('c', 'constructor', '__proto__', '*.deep.shop.test'),
  ])

  it.each([
    ['a.test', 'a'],
    ['A.Test', 'a'],
    ['a.test.', 'a'],
    ['www.shop.test', 'a'],
    ['special.shop.test', 'b'],
    ['both.test', 'a'],
    ['x.deep.shop.test', 'c'],
    ['constructor', 'c'],
    ['__proto__', 'c'],
    ['shop.test', undefined],
    ['a.b.shop.test', undefined],
    ['*.shop.test', 'a'],
    ['toString', undefined],
    ['.shop.test', 'a'],
    ['', undefined],
    ['.', undefined],
  ])('%j is %s', (name, folder) => {
    expect(table.find(name)?.folder).toBe(folder)
  })
})

describe('namesOfCertificate', () => {
  it('is every DNS name of the first certificate, none of its addresses', () => {
    const { cert } = createCertificateAuthority('ca').issue('One.test', {
      names: ['*.two.test'],
      addresses: ['192.0.2.1'],
    })
    expect(namesOfCertificate(Buffer.from(cert))).toEqual(['one.test', '*.two.test'])
  })

  it('throws for what is none', () => {
    expect(() => namesOfCertificate(Buffer.from('nonsense'))).toThrow()
  })
})

describe('endOfCertificate', () => {
  it('is the end of the first one, to the second', () => {
    const { cert } = createCertificateAuthority('ca').issue('one.test')
    const { validTo } = new X509Certificate(cert)
    expect(endOfCertificate(Buffer.from(cert))).toBe(Date.parse(validTo))
    expect(endOfCertificate(Buffer.from(cert))).toBeGreaterThan(Date.now())
  })
})
