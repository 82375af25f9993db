// CA certificates beside the system's in, whom TLS connections trust out. One for all of a kind: each takes 25 ms, in
// which nothing else runs, and 1 MB.

import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

/**
 * @param extraCa PEM
 * @returns undefined: node's own, for there are no others
 * @throws Error for a certificate that is none
 */
export const trustBeside = (extraCa: readonly string[]): SecureContext | undefined =>
  extraCa.length === 0
    ? undefined
    : createSecureContext({ ca: [...getCACertificates(), ...extraCa] })
