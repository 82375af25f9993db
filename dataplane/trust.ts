// Builds the trust store of TLS connections from the system's CAs and further CA certificates. Build it once for each
// kind of connection: one costs 25 ms, in which nothing else runs, and 1 MB.

import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

/**
 * @param extraCa PEM
 * @returns undefined: node's own CAs, as there are no others
 * @throws Error for a certificate that is not valid
 */
export const trustBeside = (extraCa: readonly string[]): SecureContext | undefined =>
  extraCa.length === 0
    ? undefined
    : createSecureContext({ ca: [...getCACertificates(), ...extraCa] })
