// Issues certificates and their private keys as PEM (RFC 5280, ECDSA P-256). Time and randomness are passed in; reads
// no certificate but the signer's.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIPv4 } from 'node:net'
import { promisify } from 'node:util'
import {
  bitString,
  context,
  integer,
  isTrue,
  objectId,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts'

/** PEM. The key is PKCS #8: never log it. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

export interface RandomSource {
  bytes(count: number): Buffer
  /** A fresh private key on P-256. */
  privateKey(): Promise<KeyObject>
}

const newKeyPair = promisify(generateKeyPair)

export const SYSTEM_RANDOM: RandomSource = {
  bytes: (count) => randomBytes(count),
  privateKey: async () => (await newKeyPair('ec', { namedCurve: 'P-256' })).privateKey,
}

export interface Life {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** A CA that signs leaves only. Each has a name of its own, so that the CAs in a bundle cannot be mixed up. */
export const issueAuthority = async (life: Life, random: RandomSource): Promise<KeyPair> => {
  const privateKey = await random.privateKey()
  const serial = serialNumber(random)
  const name = `svc-gateway CA ${serial.subarray(0, 4).toString('hex')}`
  const publicKey = createPublicKey(privateKey)
  const cert = certificate({
    life,
    serial,
    subject: name,
    publicKey,
    issuer: { name, privateKey, publicKey },
    extensions: [
      extension(BASIC_CONSTRAINTS, sequence(isTrue(), integer(Buffer.of(0))), 'critical'),
      // keyCertSign, cRLSign
      extension(KEY_USAGE, bitString(Buffer.of(0b0000_0110), 1), 'critical'),
    ],
  })
  return { cert, key: pemOfKey(privateKey) }
}

export interface LeafRequest {
  readonly usage: 'server' | 'client'
  /** DNS names or IPv4 addresses; the first is the common name too, up to the length allowed there. */
  readonly names: readonly [string, ...string[]]
  /** It ends with its signer at the latest. */
  readonly life: Life
}

export const issueLeaf = async (
  authority: KeyPair,
  { usage, names, life }: LeafRequest,
  random: RandomSource,
): Promise<KeyPair> => {
  const privateKey = await random.privateKey()
  const signer = new X509Certificate(authority.cert)
  const signerKey = createPrivateKey(authority.key)
  const cert = certificate({
    life: { ...life, notAfterMs: Math.min(life.notAfterMs, signer.validToDate.getTime()) },
    serial: serialNumber(random),
    subject: names[0].slice(0, COMMON_NAME_MAX),
    publicKey: createPublicKey(privateKey),
    issuer: {
      name: commonNameOf(signer),
      privateKey: signerKey,
      publicKey: createPublicKey(signerKey),
    },
    extensions: [
      extension(BASIC_CONSTRAINTS, sequence(), 'critical'),
      // digitalSignature
      extension(KEY_USAGE, bitString(Buffer.of(0b1000_0000), 7), 'critical'),
      extension(EXTENDED_KEY_USAGE, sequence(objectId(USAGES[usage]))),
      extension(SUBJECT_ALT_NAME, sequence(...names.map(alternativeName))),
    ],
  })
  return { cert, key: pemOfKey(privateKey) }
}

interface Contents {
  readonly life: Life
  readonly serial: Buffer
  readonly subject: string
  readonly publicKey: KeyObject
  readonly issuer: {
    readonly name: string
    readonly privateKey: KeyObject
    readonly publicKey: KeyObject
  }
  readonly extensions: readonly Buffer[]
}

/** RFC 5280 §A.1: ub-common-name. */
const COMMON_NAME_MAX = 64
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'
const SUBJECT_KEY_ID = '2.5.29.14'
const KEY_USAGE = '2.5.29.15'
const SUBJECT_ALT_NAME = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'
const AUTHORITY_KEY_ID = '2.5.29.35'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const USAGES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }

const certificate = (contents: Contents): string => {
  const { life, serial, subject, publicKey, issuer, extensions } = contents
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256))
  const keyIds = [
    extension(SUBJECT_KEY_ID, octetString(keyId(publicKey))),
    extension(AUTHORITY_KEY_ID, sequence(context(0, keyId(issuer.publicKey), 'primitive'))),
  ]
  const toBeSigned = sequence(
    context(0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(life.notBeforeMs), time(life.notAfterMs)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    context(3, sequence(...extensions, ...keyIds)),
  )
  const signature = sign('sha256', toBeSigned, issuer.privateKey)
  return pemOf(sequence(toBeSigned, algorithm, bitString(signature)))
}

/** 127 bits: positive without a leading zero byte. */
const serialNumber = (random: RandomSource): Buffer => {
  const serial = Buffer.from(random.bytes(16))
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return serial
}

const extension = (id: string, value: Buffer, critical?: 'critical'): Buffer =>
  sequence(objectId(id), ...(critical === undefined ? [] : [isTrue()]), octetString(value))

/** RFC 5280 §4.2.1.6. */
const alternativeName = (name: string): Buffer =>
  isIPv4(name)
    ? context(7, Buffer.from(name.split('.').map(Number)), 'primitive')
    : context(2, Buffer.from(name, 'ascii'), 'primitive')

const distinguishedName = (name: string): Buffer =>
  sequence(setOf(sequence(objectId(COMMON_NAME), utf8String(name))))

const commonNameOf = ({ subject }: X509Certificate): string => /^CN=(.*)$/m.exec(subject)?.[1] ?? ''

/** RFC 7093 §2, method 1: any method would do that gives one id per key. */
const keyId = (publicKey: KeyObject): Buffer =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)

const pemOfKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

const pemOf = (der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
