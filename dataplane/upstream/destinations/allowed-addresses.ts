// Looks up a name and keeps those of its addresses that the destination guard allows. It opens no connection; the
// caller must connect to one of these very addresses, so that a name that changes in between (DNS rebinding) gains
// nothing.

import { DestinationError } from '../../destination-error.ts'
import type { Resolve } from '../../name-lookup.ts'
import type { DestinationGuard } from './guard.ts'
import { type Confinement, createResolveConfined } from './resolve-confined.ts'

export interface LookupOptions {
  readonly guard: DestinationGuard
  readonly resolve: Resolve
  /** Within the cluster, allow only Services of one namespace. */
  readonly confinement?: Confinement | undefined
}

export interface Destination {
  readonly hostname: string
  readonly port: number
}

type Addresses = Parameters<Parameters<Resolve>[2]>[1]

/** If no address is allowed, the error is a `DestinationError`. */
export type OnAllowed = (...result: [null, Addresses] | [Error, null]) => void

export const destinationDenied = (host: string, port: number): DestinationError =>
  new DestinationError(
    `${host}:${port} is not an allowed destination (--upstream-allow, --upstream-deny, the API server, ` +
      'the management port of a gateway, or the namespace of the document may reach no other)',
  )

export type FindAllowed = (
  to: Destination,
  options: Parameters<Resolve>[1],
  callback: OnAllowed,
) => void

export const createFindAllowed = ({ guard, confinement, resolve }: LookupOptions): FindAllowed => {
  const find = confinement && createResolveConfined(resolve, confinement)
  return ({ hostname, port }, options, callback) => {
    const choose = (error: Error | null, found: Addresses, isFree: boolean): void => {
      if (error !== null) {
        callback(error, null)
        return
      }
      const allowed = found.filter(
        ({ address }) =>
          guard.allows(hostname, address, port) && (isFree || guard.allowsConfined(address, port)),
      )
      if (allowed.length === 0) callback(destinationDenied(hostname, port), null)
      else callback(null, allowed)
    }
    if (find !== undefined) find(hostname, options, choose)
    else
      resolve(hostname, options, (error, found) => {
        choose(error, found, true)
      })
  }
}
