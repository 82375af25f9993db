// Checks whether a text holds certificates in PEM that can be read. Says nothing of who issued them, or until when.

import { X509Certificate } from 'node:crypto'

/** One or more certificates in PEM, each of which can be read; what stands between them is ignored. */
export const areCertificates = (text: string): boolean => {
  const [, ...parts] = text.split(BEGIN)
  return parts.length > 0 && parts.every(isCertificate)
}

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

/** @param part what stands behind a first line, up to the next */
const isCertificate = (part: string): boolean => {
  const end = part.indexOf(END)
  if (end < 0) return false
  try {
    return new X509Certificate(`${BEGIN}${part.slice(0, end)}${END}`).raw.length > 0
  } catch {
    return false
  }
}
