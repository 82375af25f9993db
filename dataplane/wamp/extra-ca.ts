// More CA certificates in, the TLS option that trusts them beside the system's out.

import { getCACertificates } from 'node:tls'

/** Nothing for none, so that the system's store is not parsed anew for each connection. */
export const trustOf = (extraCa: readonly string[]): { ca?: string[] } =>
  extraCa.length === 0 ? {} : { ca: [...getCACertificates(), ...extraCa] }
