// CAs come in, what sockets to routers need goes out: addresses of names, and whom to trust. Made once in a
// process, for the sessions of its realms and for what is carried at /ws. Opens nothing.

import type { LookupFunction } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { createNameLookup, type Resolve, socketLookup } from '../name-lookup.ts'
import { trustBeside } from '../trust.ts'

export interface RouterDial {
  readonly lookup: LookupFunction
  /**
   * One for all.
   * @throws Error for a CA that is none
   */
  readonly secureContext: () => SecureContext
}

/**
 * @param extraCa more CA certificates beside the system's, PEM
 * @param names shared with whoever else looks names up in this process
 * @example const dial = createRouterDial([])
 */
export const createRouterDial = (
  extraCa: readonly string[],
  names: Resolve = createNameLookup(),
): RouterDial => {
  let context: SecureContext | undefined
  return {
    lookup: socketLookup(names),
    secureContext: () => (context ??= trustBeside(extraCa) ?? createSecureContext({})),
  }
}
