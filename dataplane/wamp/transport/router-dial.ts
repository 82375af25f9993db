// Creates what sockets to routers need: name lookups that return allowed addresses only, and the TLS context with the
// trusted CAs. It is created once in a process, for the sessions of its realms and for connections carried at /ws, and
// opens nothing.

import { isIP, type LookupFunction } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { once } from '../../../base/once.ts'
import { DestinationError } from '../../destination-error.ts'
import { createNameLookup, type Resolve, socketLookup } from '../../name-lookup.ts'
import { trustBeside } from '../../trust.ts'

export interface RouterDial {
  /**
   * For a socket to that host and port. Sockets do not call it for addresses: those are validated here.
   * @param host without brackets
   * @throws DestinationError for an address that may not be dialled
   */
  readonly lookupFor: (host: string, port: number) => LookupFunction
  /**
   * One for all.
   * @throws Error for a CA that is none
   */
  readonly secureContext: () => SecureContext
}

export interface RouterDialOptions {
  /** Shared with all other name lookups of this process. */
  readonly names?: Resolve
  /** Whether that host may be dialled at that address; absent: any may. */
  readonly guard?: (host: string, address: string, port: number) => boolean
}

/**
 * @param extraCa more CA certificates beside the system's, PEM
 * @example const dial = createRouterDial([])
 */
export const createRouterDial = (
  extraCa: readonly string[],
  { names = createNameLookup(), guard = () => true }: RouterDialOptions = {},
): RouterDial => ({
  lookupFor: (host, port) => {
    if (isIP(host) !== 0 && !guard(host, host, port)) throw routerDenied(host, port)
    return socketLookup((name, options, callback) => {
      names(name, options, (error, addresses) => {
        const allowed = addresses.filter(({ address }) => guard(name, address, port))
        const isDenied = error === null && allowed.length === 0 && addresses.length > 0
        callback(isDenied ? routerDenied(name, port) : error, allowed)
      })
    })
  },
  secureContext: once(() => trustBeside(extraCa) ?? createSecureContext({})),
})

const routerDenied = (host: string, port: number): DestinationError =>
  new DestinationError(
    `${host}:${port} may not be dialled: it is link-local, the API server or a gateway itself`,
  )
