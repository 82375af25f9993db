// Decides which hosts a namespace may claim at all, by the settings of the operator and the annotations of the
// Namespace. `host-owners.ts` decides which of the namespaces that may claim a host has it.

import type { HostPattern } from '../../../language/routes/host-pattern.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { ANNOTATIONS, resourceKey } from '../../resource/resource.ts'
import { closenessOf, coversHosts, isWildcard, listEntries } from './host-entries.ts'
import { ComputedCache } from '../computed-cache.ts'

export type HostGrant =
  | { readonly may: 'any' }
  /** Any pattern without a wildcard. */
  | { readonly may: 'exact' }
  /** Only these, which may have wildcards. */
  | { readonly may: 'listed'; readonly entries: readonly string[] }

export class HostGrants {
  readonly #wildcardNamespaces: 'all' | ReadonlySet<string>
  readonly #listed = new ComputedCache<HostGrant>()

  constructor(wildcardNamespaces: 'all' | readonly string[]) {
    this.#wildcardNamespaces =
      wildcardNamespaces === 'all' ? 'all' : new Set<string>(wildcardNamespaces)
  }

  /** Forgets namespaces that are not in `live`. */
  retain(live: { has(namespace: string): boolean }): void {
    this.#listed.retain(live)
  }

  /** The annotation decides, if there is one. The same object until something changes. */
  of(namespace: string, cache: ResourceCache): HostGrant {
    const annotations = cache.resources.get(resourceKey('Namespace', '', namespace))?.metadata
      .annotations
    if (annotations !== undefined && Object.hasOwn(annotations, ANNOTATIONS.hosts)) {
      const text = annotations[ANNOTATIONS.hosts] ?? ''
      return this.#listed.get(namespace, [text], () => ({ may: 'listed', entries: split(text) }))
    }
    const isFree = this.#wildcardNamespaces === 'all' || this.#wildcardNamespaces.has(namespace)
    return isFree ? ANY : EXACT
  }
}

const ANY: HostGrant = { may: 'any' }
const EXACT: HostGrant = { may: 'exact' }

const split = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

export interface HostClaim {
  readonly namespace: string
  /** As the document writes it. */
  readonly host: string
  readonly hosts: readonly HostPattern[]
}

export const mayClaimHosts = (grant: HostGrant, hosts: readonly HostPattern[]): boolean => {
  switch (grant.may) {
    case 'any':
      return true
    case 'exact':
      return !hosts.some(isWildcard)
    case 'listed':
      return coversHosts(grant.entries, hosts)
  }
}

export const mayClaimNothing = (grant: HostGrant): boolean =>
  grant.may === 'listed' && grant.entries.length === 0

/** @returns undefined: the namespace may claim the host */
export const refuseHost = (
  grant: HostGrant,
  { namespace, host, hosts }: HostClaim,
): NewCondition<'ResolvedRefs'> | undefined => {
  if (mayClaimHosts(grant, hosts)) return undefined
  if (grant.may !== 'listed')
    return refused(
      `namespace ${namespace} may not claim the host '${host}': wildcards are for the namespaces of ` +
        `--wildcard-namespaces (wildcardNamespaces of the chart), and for those whose annotation ${ANNOTATIONS.hosts} names the host`,
    )
  return refused(
    `namespace ${namespace} may not claim the host '${host}': its annotation ${ANNOTATIONS.hosts} allows ` +
      (listEntries(grant.entries) || 'none'),
  )
}

/**
 * Which of two namespaces a host goes to before age counts: that whose annotation names it more closely. 0: no annotation
 * names it, and `*` names none.
 */
export const rankOfGrant = (grant: HostGrant, hosts: readonly HostPattern[]): number =>
  grant.may === 'listed' ? closenessOf(grant.entries, hosts) : 0

const refused = (message: string): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason: 'RefNotPermitted',
  message,
})
