// What is issued must be what OpenSSL (through node:tls) believes; the encoding is compared byte for byte.

import { connect, createServer, type TLSSocket } from 'node:tls'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { bitString, integer, objectId, sequence, time } from '../../../operator/certificates/der.ts'
import {
  issueAuthority,
  issueLeaf,
  type KeyPair,
  type LeafRequest,
  SYSTEM_RANDOM,
} from '../../../operator/certificates/issue-certificate.ts'
import {
  hasKey,
  isSignedBy,
  readBundle,
  readCertificate,
  readPair,
} from '../../../operator/certificates/read-certificate.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const life = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS + 30 * DAY_MS }

const today = (): LeafRequest['life'] => {
  const nowMs = Date.now()
  return { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + DAY_MS }
}

const factsOf = (pem: string) => {
  const facts = readCertificate(pem)
  if (facts === undefined) throw new Error('this is no certificate')
  return facts
}

const hex = (text: string): string => Buffer.from(text).toString('hex')

describe('DER', () => {
  it.each<[string, Buffer, string]>([
    ['zero', integer(Buffer.of(0)), '020100'],
    ['no leading zeros', integer(Buffer.of(0, 0, 5)), '020105'],
    ['a high bit is no sign', integer(Buffer.of(0x80)), '02020080'],
    ['nothing is zero', integer(Buffer.alloc(0)), '020100'],
    ['an object id', objectId('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['unused bits', bitString(Buffer.of(6), 1), '03020106'],
    ['empty', sequence(), '3000'],
    ['127 bytes', sequence(Buffer.alloc(127)).subarray(0, 2), '307f'],
    ['128 bytes', sequence(Buffer.alloc(128)).subarray(0, 3), '308180'],
    ['256 bytes', sequence(Buffer.alloc(256)).subarray(0, 4), '30820100'],
    [
      'a year of two digits',
      time(Date.UTC(2049, 11, 31, 23, 59, 59, 999)),
      `170d${hex('491231235959Z')}`,
    ],
    ['a year of four', time(Date.UTC(2050, 0, 1)), `180f${hex('20500101000000Z')}`],
  ])('%s', (_, encoded, expected) => {
    expect(Buffer.from(encoded).toString('hex')).toBe(expected)
  })
})

describe('certificates', () => {
  it('say what was requested', async () => {
    const authority = await issueAuthority(life, SYSTEM_RANDOM)
    const request = { usage: 'server', names: ['b.test', 'a.test'], life } as const
    const leaf = await issueLeaf(authority, request, SYSTEM_RANDOM)
    const facts = factsOf(leaf.cert)
    expect(facts).toMatchObject({ ...life, names: ['a.test', 'b.test'], isAuthority: false })
    expect(factsOf(authority.cert)).toMatchObject({ ...life, names: [], isAuthority: true })
    expect(hasKey(facts, leaf.key)).toBe(true)
    expect(hasKey(facts, authority.key)).toBe(false)
    expect(isSignedBy(facts, factsOf(authority.cert))).toBe(true)
    expect(new X509Certificate(leaf.cert).keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(readPair(leaf.cert, leaf.key)?.pair).toEqual(leaf)
  })

  it('of one name and another key do not pass for each other', async () => {
    const [one, other] = [
      await issueAuthority(life, SYSTEM_RANDOM),
      await issueAuthority(life, SYSTEM_RANDOM),
    ]
    const leaf = await issueLeaf(one, { usage: 'client', names: ['x'], life }, SYSTEM_RANDOM)
    expect(isSignedBy(factsOf(leaf.cert), factsOf(other.cert))).toBe(false)
    expect(new X509Certificate(one.cert).subject).not.toBe(new X509Certificate(other.cert).subject)
  })

  it('end with their CA', async () => {
    const authority = await issueAuthority({ ...life, notAfterMs: NOW_MS + DAY_MS }, SYSTEM_RANDOM)
    const leaf = await issueLeaf(authority, { usage: 'client', names: ['x'], life }, SYSTEM_RANDOM)
    expect(factsOf(leaf.cert).notAfterMs).toBe(NOW_MS + DAY_MS)
  })

  it('take long names, of which only the common name is cut', async () => {
    const name = `${'a'.repeat(63)}.gateway.svc.dev`
    const authority = await issueAuthority(life, SYSTEM_RANDOM)
    const leaf = await issueLeaf(authority, { usage: 'server', names: [name], life }, SYSTEM_RANDOM)
    expect(factsOf(leaf.cert).names).toEqual([name])
    expect(new X509Certificate(leaf.cert).subject).toBe(`CN=${name.slice(0, 64)}`)
  })

  it('take addresses beside names', async () => {
    const authority = await issueAuthority(life, SYSTEM_RANDOM)
    const request = { usage: 'server', names: ['hook.test', '127.0.0.1'], life } as const
    const { x509, names } = factsOf((await issueLeaf(authority, request, SYSTEM_RANDOM)).cert)
    expect(names).toEqual(['127.0.0.1', 'hook.test'])
    expect(x509.checkIP('127.0.0.1')).toBe('127.0.0.1')
  })

  it('have serial numbers that are positive, whatever random gives', async () => {
    const random = { ...SYSTEM_RANDOM, bytes: (count: number) => Buffer.alloc(count, 0xff) }
    const authority = await issueAuthority(life, random)
    expect(new X509Certificate(authority.cert).serialNumber).toBe(`7F${'FF'.repeat(15)}`)
  })
})

describe('what is read', () => {
  it.each<[string, string | undefined]>([
    ['nothing', undefined],
    ['empty', ''],
    ['other text', '__proto__'],
    ['no base64', '-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n'],
    ['no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('%s is no certificate', (_, text) => {
    expect(readCertificate(text)).toBeUndefined()
    expect(readBundle(text)).toEqual([])
    expect(readPair(text, 'x')).toBeUndefined()
  })

  it('of a bundle is each good certificate, once', async () => {
    const [one, other] = [
      await issueAuthority(life, SYSTEM_RANDOM),
      await issueAuthority(life, SYSTEM_RANDOM),
    ]
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    const bundle = readBundle(`# ours\n${one.cert}${broken}${one.cert}\n\n${other.cert.trimEnd()}`)
    expect(bundle.map(({ pem }) => pem)).toEqual([one.cert, other.cert])
  })
})

describe('TLS', () => {
  const names = (pair: KeyPair, ca: KeyPair) => ({ ...pair, ca: ca.cert })

  const shake = async (
    server: KeyPair & { ca: string },
    client: KeyPair & { ca: string },
    servername: string,
  ): Promise<string> => {
    const listener = createServer({
      ...server,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
    })
    listener.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => undefined)
      socket.end(socket.getPeerX509Certificate()?.checkHost('operator.test') ?? 'no name')
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    try {
      const socket = connect({ ...client, port, host: '127.0.0.1', servername })
      let heard = ''
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString()))
      await once(socket, 'close')
      return heard
    } finally {
      listener.close()
    }
  }

  it('is agreed on by both sides, and only with the right names, uses and CAs', async () => {
    const life = today()
    const [ca, stranger] = [
      await issueAuthority(life, SYSTEM_RANDOM),
      await issueAuthority(life, SYSTEM_RANDOM),
    ]
    const issue = async (usage: 'server' | 'client', name: string, by = ca): Promise<KeyPair> =>
      issueLeaf(by, { usage, names: [name], life }, SYSTEM_RANDOM)
    const server = names(await issue('server', 'shop.test'), ca)
    const client = names(await issue('client', 'operator.test'), ca)
    expect(await shake(server, client, 'shop.test')).toBe('operator.test')
    const bundle = { ...client, ca: stranger.cert + ca.cert }
    expect(await shake(server, bundle, 'shop.test')).toBe('operator.test')
    await expect(shake(server, client, 'other.test')).rejects.toThrow('altnames')
    // With TLS 1.3 a client learns of its refusal by a broken connection.
    const refused = (client: KeyPair & { ca: string }): Promise<string> =>
      shake(server, client, 'shop.test').catch(() => '')
    const otherUse = names(await issue('server', 'operator.test'), ca)
    expect(await refused(otherUse)).toBe('')
    const otherCa = names(await issue('client', 'operator.test', stranger), ca)
    expect(await refused(otherCa)).toBe('')
  })
})
