// Looks up names for a document that may reach no other namespace than its own, and tells whether the addresses are
// those of a Service of that namespace. It decides nothing about addresses.

import { resolveCname } from 'node:dns'
import { readHostName } from '../../../language/service-name.ts'
import type { Resolve } from '../../name-lookup.ts'

export interface Confinement {
  readonly namespace: string
  /** `cluster.local` */
  readonly clusterDomain: string
  /** If left out, `dns.resolveCname`. */
  readonly resolveAlias?: ResolveAlias
}

export type ResolveAlias = (
  name: string,
  callback: (error: NodeJS.ErrnoException | null, aliases: readonly string[]) => void,
) => void

type Result = Parameters<Parameters<Resolve>[2]>

export type ResolveConfined = (
  name: string,
  options: Parameters<Resolve>[1],
  callback: (...result: [...Result, isOwnService: boolean]) => void,
) => void

/**
 * A Service is looked up by its full name: completed by the search domains of this Pod it might be a public domain
 * (`orders.shop`, if there is no such Service). An alias does not count as a Service: one of type ExternalName leads
 * wherever its owner likes, into other namespaces too.
 */
export const createResolveConfined = (
  resolve: Resolve,
  { namespace, clusterDomain, resolveAlias = resolveCname }: Confinement,
): ResolveConfined => {
  return (name, options, callback) => {
    const asGiven = (): void => {
      resolve(name, options, (error, addresses) => {
        callback(error, addresses, false)
      })
    }
    const naming = readHostName(name, clusterDomain)
    if (naming.kind !== 'service' || naming.namespace !== namespace) {
      asGiven()
      return
    }
    const { fullName } = naming
    resolve(fullName, options, (error, addresses) => {
      if (error !== null) {
        asGiven()
        return
      }
      resolveAlias(fullName, (error) => {
        callback(null, addresses, error !== null && NO_ALIAS.has(error.code ?? ''))
      })
    })
  }
}

/** Any other error leaves it undecided. */
const NO_ALIAS: ReadonlySet<string> = new Set(['ENODATA', 'ENOTFOUND'])
