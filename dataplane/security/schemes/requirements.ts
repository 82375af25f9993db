// Decides whether an authenticated caller meets the `groups`, `roles` and `scopes` of a Security Object (behaviour
// §6).

import type { SecurityRequirements } from '../../../language/compile/security.ts'
import type { Identity } from './authentication.ts'

/**
 * At least one of `groups`, at least one of `roles`, all of `scopes`, of the lists that are given. A scheme whose
 * credentials have no scopes never meets a demand for them.
 * @example meetsRequirements({ groups: ['staff'] }, identity)
 */
export const meetsRequirements = (
  { groups, roles, scopes }: SecurityRequirements,
  identity: Identity,
): boolean =>
  (groups?.some((group) => identity.groups.includes(group)) ?? true) &&
  (roles?.some((role) => identity.authroles.includes(role)) ?? true) &&
  (scopes?.every((scope) => hasScope(identity, scope)) ?? true)

/**
 * The lists that the caller does not meet, as the document has them. Nothing that the caller sent is in it.
 * @example missingRequirements({ groups: ['staff', 'ops'] }, identity) // 'one of groups: staff, ops'
 */
export const missingRequirements = (
  { groups, roles, scopes }: SecurityRequirements,
  identity: Identity,
): string => {
  const missing: string[] = []
  if (groups !== undefined && !meetsRequirements({ groups }, identity))
    missing.push(`one of groups: ${groups.join(', ')}`)
  if (roles !== undefined && !meetsRequirements({ roles }, identity))
    missing.push(`one of roles: ${roles.join(', ')}`)
  const absent = scopes?.filter((scope) => !hasScope(identity, scope)) ?? []
  if (absent.length > 0) missing.push(`scopes: ${absent.join(', ')}`)
  return missing.join('; ')
}

/**
 * JSON pointer to the list of the document that the caller does not meet, the first of several.
 * @example failedRequirement({ groups: ['staff'], pointer: '/security' }, identity) // '/security/groups'
 */
export const failedRequirement = (
  { groups, roles, scopes, pointer }: SecurityRequirements,
  identity: Identity,
): string | undefined => {
  if (pointer === undefined) return undefined
  if (groups !== undefined && !meetsRequirements({ groups }, identity)) return `${pointer}/groups`
  if (roles !== undefined && !meetsRequirements({ roles }, identity)) return `${pointer}/roles`
  return scopes === undefined ? undefined : `${pointer}/scopes`
}

const hasScope = ({ scope }: Identity, wanted: string): boolean =>
  Array.isArray(scope) && scope.includes(wanted)
