// Implements the credential of a client certificate: reads it once, and refuses to use it when it is not valid.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { CredentialRecord } from '../../language/realm/record.ts'
import type { CredentialProblem } from '../../language/wire/wire.ts'
import { once } from '../../base/once.ts'
import { messageOf } from '../../base/thrown.ts'
import type { ClientTls } from '../upstream/upstream.ts'
import { SECURE_OPTIONS, textsBeside } from '../trust.ts'
import { type AuthorizationResult, type Credential, CredentialError } from './credential.ts'

type CertificateRecord = NonNullable<CredentialRecord['certificate']>

export interface CertificateOptions {
  /** Changes with anything of the record. Without spaces. */
  readonly id: string
  /** `--upstream-ca`: PEM texts, trusted beside the system's where the credential names no CAs. */
  readonly extraCa: readonly string[]
  /** Unix time, milliseconds. */
  readonly now: () => number
}

interface Readable {
  readonly fromMs: number
  readonly toMs: number
  /** Made at the first use: with CAs beside the system's each takes 25 ms and a megabyte. */
  readonly tls: () => ClientTls
}

/** It is told of before it expires: a tenth of its life, a week at most. */
const SOON_SHARE = 0.1
const SOON_MOST_MS = 7 * 86_400_000

export const createCertificateCredential = (
  record: CertificateRecord,
  options: CertificateOptions,
): Credential => {
  const { now } = options
  let read: Readable | CredentialError | undefined
  const certificate = (): Readable | CredentialError => (read ??= readCertificate(record, options))

  const usable = (): Readable | CredentialError => {
    const known = certificate()
    if (known instanceof CredentialError) return known
    const nowMs = now()
    if (nowMs >= known.toMs) return outOfTime('certificate_expired', known)
    return nowMs < known.fromMs ? outOfTime('certificate_early', known) : known
  }
  const result = (): AuthorizationResult => {
    const known = usable()
    return known instanceof CredentialError
      ? { ok: false, error: known }
      : { ok: true, authorization: { tls: known.tls() } }
  }
  return {
    authorize: (_subject, done) => {
      done(result())
    },
    prepare: () => {
      certificate()
    },
    // All certificates are looked at again and again, and most may never be used: no context is made for that.
    problem: () => {
      const known = usable()
      return known instanceof CredentialError ? known.problem : soonExpired(known, now())
    },
  }
}

const soonExpired = ({ fromMs, toMs }: Readable, nowMs: number): CredentialProblem | undefined => {
  const soonMs = Math.min(SOON_MOST_MS, (toMs - fromMs) * SOON_SHARE)
  return toMs - nowMs > soonMs ? undefined : { cause: 'certificate_ends', found: dayOf(toMs) }
}

const outOfTime = (
  cause: 'certificate_expired' | 'certificate_early',
  { fromMs, toMs }: Readable,
): CredentialError => {
  const found = dayOf(cause === 'certificate_expired' ? toMs : fromMs)
  const words = cause === 'certificate_expired' ? 'has expired' : 'is not valid yet'
  return new CredentialError(
    'credential_certificate',
    `the client certificate ${words} (${found})`,
    {
      problem: { cause, found },
    },
  )
}

/** @example dayOf(0) // '1970-01-01T00:00:00Z' */
const dayOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

const readCertificate = (
  record: CertificateRecord,
  options: CertificateOptions,
): Readable | CredentialError => {
  try {
    const leaf = new X509Certificate(record.certificate)
    const key = createPrivateKey(record.private_key)
    if (!leaf.checkPrivateKey(key))
      return unreadable('the private key is not that of the certificate')
    if (record.ca !== undefined) createSecureContext({ ca: record.ca })
    return {
      fromMs: leaf.validFromDate.getTime(),
      toMs: leaf.validToDate.getTime(),
      tls: once(() => clientTls(record, options)),
    }
  } catch (cause) {
    // OpenSSL names what it can't parse, never its content.
    const message = `the certificate, its key or its CAs can't be read: ${messageOf(cause)}`
    return unreadable(message, cause)
  }
}

const clientTls = (
  { certificate: cert, private_key: key, ca, server_name: serverName }: CertificateRecord,
  { id, extraCa }: CertificateOptions,
): ClientTls => {
  // What the credential names as CAs is all that counts: another CA of the system must not vouch for the peer.
  const trusted = ca ?? textsBeside(extraCa)
  const secureContext = createSecureContext({
    cert,
    key,
    secureOptions: SECURE_OPTIONS,
    ...(trusted && { ca: trusted }),
  })
  return { id, secureContext, serverName }
}

const unreadable = (message: string, cause?: unknown): CredentialError =>
  new CredentialError('credential_certificate', message, {
    problem: { cause: 'certificate_invalid' },
    cause,
  })
