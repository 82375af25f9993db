// Checks whether a text holds certificates in PEM that can be read. Says nothing of who issued them, or until when.

import { X509Certificate } from 'node:crypto'

/** One or more certificates in PEM, each of which can be read; what stands between them is ignored. */
export const areCertificates = (text: string): boolean => {
  const blocks = text.match(CERTIFICATES) ?? []
  return blocks.length > 0 && blocks.every(isCertificate)
}

const CERTIFICATES =
  /-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN)[^])*(?:-----END CERTIFICATE-----|$)/g

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
