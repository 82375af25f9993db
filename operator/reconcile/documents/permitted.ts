// Decides whether a version that serves may go on serving by the rights that its namespace has now: to its realm, and to
// its hosts in that realm and in the cluster. A mistake takes nothing away, nor does what is not known. Pure.

import type { DesiredDocument } from '../../desired-set.ts'
import { resourceKey } from '../../resource/resource.ts'
import { coversHosts } from '../claims/host-entries.ts'
import { type HostGrant, mayClaimHosts } from '../claims/host-grants.ts'
import type { RealmAccess } from '../realms/realm-access.ts'
import type { ValidationContext } from '../validation-context.ts'

export interface Rights {
  /** To its realm. */
  readonly access: RealmAccess
  /** Undefined: the Namespace is not known, so its annotations are not. */
  readonly grant: HostGrant | undefined
}

export const rightsOf = (
  { realmUri, namespace }: Pick<DesiredDocument, 'realmUri' | 'namespace'>,
  { access, grant, cache }: Pick<ValidationContext, 'access' | 'grant' | 'cache'>,
): Rights => ({
  access: access(realmUri, namespace),
  grant: cache.resources.has(resourceKey('Namespace', '', namespace))
    ? grant(namespace)
    : undefined,
})

/** @example isPermitted(document, rightsOf(document, context)) // false: it is taken out of service */
export const isPermitted = (
  { hosts }: Pick<DesiredDocument, 'hosts'>,
  { access, grant }: Rights,
): boolean => {
  if (grant !== undefined && !mayClaimHosts(grant, hosts)) return false
  if (access.access === 'RefNotPermitted') return access.isUncertain === true
  if (access.access !== 'granted') return true
  const { allowedHosts } = access.realm
  return allowedHosts === undefined || coversHosts(allowedHosts, hosts)
}
