// Reads the certificates that a text holds in PEM. Says nothing of who issued them, or until when.

import { X509Certificate } from 'node:crypto'

/**
 * Undefined: one of them cannot be read. What stands between them is ignored.
 * @example certificatesIn(bundle)?.length // 2
 */
export const certificatesIn = (text: string): readonly X509Certificate[] | undefined => {
  const [, ...parts] = text.split(BEGIN)
  try {
    return parts.map(readCertificate)
  } catch {
    return undefined
  }
}

/** One or more certificates in PEM, each of which can be read. */
export const areCertificates = (text: string): boolean => (certificatesIn(text)?.length ?? 0) > 0

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

/**
 * @param part what stands behind a first line, up to the next
 * @throws Error where it is none
 */
const readCertificate = (part: string): X509Certificate =>
  new X509Certificate(`${BEGIN}${part.slice(0, Math.max(0, part.indexOf(END)))}${END}`)
