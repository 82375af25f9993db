// Builds the trust store of TLS connections from the system's CAs and further CA certificates. Build it once for each
// kind of connection: one costs 25 ms, in which nothing else runs, and 1 MB.

import { constants } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { oncePer } from '../base/once.ts'

/**
 * For each context of connections that we open. A peer of TLS 1.2 cannot begin another handshake in the middle of a
 * connection: what it sent before might be somebody else's (CVE-2009-3555), and each costs much.
 */
export const SECURE_OPTIONS = constants.SSL_OP_NO_RENEGOTIATION

/**
 * @param extraCa PEM
 * @returns the same list for the same `extraCa`; undefined: node's own CAs, as there are no others
 */
export const textsBeside = (extraCa: readonly string[]): string[] | undefined =>
  extraCa.length === 0 ? undefined : allTexts(extraCa)

const allTexts = oncePer((extraCa: readonly string[]) => [...getCACertificates(), ...extraCa])

/**
 * @param extraCa PEM
 * @returns undefined: node's own CAs, as there are no others
 * @throws Error for a certificate that is not valid
 */
export const trustBeside = (extraCa: readonly string[]): SecureContext | undefined => {
  const ca = textsBeside(extraCa)
  return ca && createSecureContext({ ca, secureOptions: SECURE_OPTIONS })
}
