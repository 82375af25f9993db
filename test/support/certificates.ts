// Creates a fresh CA and certificates for names signed by it, as PEM, valid for one day: no key has to lie in the
// repository and no test needs a tool. Just enough X.509 (RFC 5280) for TLS in tests.

import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface CertificateAuthority {
  readonly cert: string
  /** A certificate for a name, as server and as client: common name, DNS name, and 127.0.0.1. */
  readonly issue: (name: string, more?: MoreNames) => Certificate
}

/** What else a server is called. */
export interface MoreNames {
  readonly names?: readonly string[]
  /** IPv4. */
  readonly addresses?: readonly string[]
}

/**
 * @example
 * const ca = createCertificateAuthority('test CA')
 * const { cert, key } = ca.issue('gateway.test')
 */
export const createCertificateAuthority = (name: string): CertificateAuthority => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer: Issuer = { name, privateKey }
  return {
    cert: certificate(issuer, name, publicKey, [BASIC_CONSTRAINTS_CA]),
    issue: (subject, more = {}) => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return {
        cert: certificate(issuer, subject, pair.publicKey, [alternativeNames(subject, more)]),
        key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

interface Issuer {
  readonly name: string
  readonly privateKey: KeyObject
}

const DAY_MS = 86_400_000

const certificate = (
  issuer: Issuer,
  subject: string,
  publicKey: KeyObject,
  extensions: readonly Buffer[],
): string => {
  const now = Date.now()
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256))
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(now - DAY_MS), time(now + DAY_MS)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', toBeSigned, issuer.privateKey)
  return pem(sequence(toBeSigned, algorithm, tagged(0x03, Buffer.of(0), signature)))
}

/** DER of the object ids that stand in a certificate. */
const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'

const tagged = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  return length < 0x100 ? Buffer.of(0x81, length) : Buffer.of(0x82, length >> 8, length & 0xff)
}

const sequence = (...contents: readonly Buffer[]): Buffer => tagged(0x30, ...contents)

const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes)

const objectId = (der: string): Buffer => tagged(0x06, Buffer.from(der, 'hex'))

const text = (tag: number, content: string): Buffer => tagged(tag, Buffer.from(content))

const distinguishedName = (name: string): Buffer =>
  sequence(tagged(0x31, sequence(objectId(COMMON_NAME), text(0x0c, name))))

/** UTCTime: `YYMMDDhhmmssZ`. */
const time = (ms: number): Buffer =>
  text(0x17, `${new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`)

const TRUE = tagged(0x01, Buffer.of(0xff))

const BASIC_CONSTRAINTS_CA = sequence(
  objectId(BASIC_CONSTRAINTS),
  TRUE,
  tagged(0x04, sequence(TRUE)),
)

const alternativeNames = (name: string, { names = [], addresses = [] }: MoreNames): Buffer => {
  const all = [
    ...[name, ...names].map((each) => text(0x82, each)),
    ...['127.0.0.1', ...addresses].map((each) =>
      tagged(0x87, Buffer.from(each.split('.').map(Number))),
    ),
  ]
  return sequence(objectId(SUBJECT_ALT_NAME), tagged(0x04, sequence(...all)))
}

const pem = (der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
