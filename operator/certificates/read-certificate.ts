// Reads certificates and keys from PEM text. Never throws on any content.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyPair } from './issue-certificate.ts'

export interface CertificateFacts {
  readonly pem: string
  /** Unix time, milliseconds. */
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** DNS names and addresses (SAN), sorted. */
  readonly names: readonly string[]
  readonly isAuthority: boolean
  /** SHA-256: identifies a certificate, and may be logged. */
  readonly fingerprint: string
  readonly x509: X509Certificate
}

/**
 * The first certificate of a text; undefined: there is none that can be read.
 * @internal exported for tests
 */
export const readCertificate = (pem: string | undefined): CertificateFacts | undefined => {
  if (pem === undefined) return undefined
  try {
    const x509 = new X509Certificate(pem)
    return {
      pem: x509.toString(),
      notBeforeMs: x509.validFromDate.getTime(),
      notAfterMs: x509.validToDate.getTime(),
      names: namesIn(x509.subjectAltName ?? ''),
      isAuthority: x509.ca,
      fingerprint: x509.fingerprint256,
      x509,
    }
  } catch {
    return undefined
  }
}

const BLOCK = /-----BEGIN CERTIFICATE-----[\w+/=\s]*-----END CERTIFICATE-----/g

/** Every certificate of a bundle that can be read, each once. */
export const readBundle = (pem: string | undefined): readonly CertificateFacts[] => {
  const read = (pem?.match(BLOCK) ?? []).flatMap((block) => readCertificate(block) ?? [])
  return [...new Map(read.map((facts) => [facts.fingerprint, facts])).values()]
}

/** @internal exported for tests */
export const hasKey = ({ x509 }: CertificateFacts, key: string): boolean => {
  try {
    return x509.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

export const isSignedBy = (leaf: CertificateFacts, authority: CertificateFacts): boolean =>
  leaf.x509.checkIssued(authority.x509) && leaf.x509.verify(authority.x509.publicKey)

/** Certificate and key that belong together; undefined: they do not, or can't be read. */
export const readPair = (
  cert: string | undefined,
  key: string | undefined,
): { readonly pair: KeyPair; readonly facts: CertificateFacts } | undefined => {
  const facts = readCertificate(cert)
  if (facts === undefined || key === undefined || !hasKey(facts, key)) return undefined
  return { pair: { cert: facts.pem, key }, facts }
}

/** @example namesIn('DNS:a.test, IP Address:127.0.0.1') // ['127.0.0.1', 'a.test'] */
const namesIn = (alternativeNames: string): readonly string[] =>
  alternativeNames
    .split(', ')
    .flatMap((name) => /^(?:DNS|IP Address):(.*)$/.exec(name)?.[1] ?? [])
    .sort()
