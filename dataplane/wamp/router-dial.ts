// CAs come in, what sockets to routers need goes out: addresses of names, and whom to trust. Made once in a
// process, for the sessions of its realms and for what is carried at /ws. Opens nothing.

import type { LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { createRouterLookup } from './router-lookup.ts'

export interface RouterDial {
  readonly lookup: LookupFunction
  /**
   * One for all: with more CAs each takes 25 ms, in which nothing else runs, and 1 MB.
   * @throws Error for a CA that is none
   */
  readonly secureContext: () => SecureContext
}

/**
 * @param extraCa more CA certificates beside the system's, PEM
 * @example const dial = createRouterDial([])
 */
export const createRouterDial = (
  extraCa: readonly string[],
  lookup = createRouterLookup(),
): RouterDial => {
  let context: SecureContext | undefined
  return {
    lookup,
    secureContext: () =>
      (context ??= createSecureContext(
        extraCa.length === 0 ? {} : { ca: [...getCACertificates(), ...extraCa] },
      )),
  }
}
