// Chooses the certificate for the name that a client asks for (SNI, RFC 6066 §3). It reads no file and validates no
// certificate.

import { X509Certificate } from 'node:crypto'
import type { SecureContext } from 'node:tls'

/** A usable certificate, and the folder that it is from. */
export interface TlsHost {
  readonly folder: string
  /** In lower case; `*.example.com` as in the certificate. */
  readonly names: readonly string[]
  /** Unix time when it expires. */
  readonly endsMs: number
  readonly cert: Buffer
  readonly key: Buffer
  readonly context: SecureContext
}

export interface TlsHostTable {
  /** In the order of their folders. The first is for clients that send no name, or an unknown one. */
  readonly hosts: readonly TlsHost[]
  /** An exact name goes before a wildcard, which stands for one label (RFC 6125 §6.4.3); the earlier folder wins. */
  find(serverName: string): TlsHost | undefined
}

/** @example createTlsHostTable([shop, other]).find('www.shop.example') */
export const createTlsHostTable = (hosts: readonly TlsHost[]): TlsHostTable => {
  const byName = new Map<string, TlsHost>()
  for (const host of hosts) {
    for (const name of host.names) if (!byName.has(name)) byName.set(name, host)
  }
  return {
    hosts,
    find: (serverName) => {
      const name = serverName.toLowerCase().replace(/\.$/, '')
      const label = name.indexOf('.')
      return byName.get(name) ?? (label < 0 ? undefined : byName.get(`*${name.slice(label)}`))
    },
  }
}

/**
 * Unix time when the first certificate of a chain expires.
 * @throws Error of OpenSSL when it is no certificate
 */
export const endOfCertificate = (pem: Buffer): number =>
  new X509Certificate(pem).validToDate.getTime()

/**
 * DNS names of the first certificate of a chain: its subject alternative names, never its common name.
 * @throws Error of OpenSSL when it is no certificate
 */
export const namesOfCertificate = (pem: Buffer): readonly string[] =>
  (new X509Certificate(pem).subjectAltName ?? '')
    .split(', ')
    .flatMap((name) => /^DNS:([^"\s]+)$/.exec(name)?.[1]?.toLowerCase() ?? [])
