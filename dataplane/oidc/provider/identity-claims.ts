// Reads the name and roles of a user from the claims of a verified ID token. It looks up own members only; a name
// that is not a string is rejected (behaviour §6, *Claims*).

import type { OidcProviderRecord } from '../../../language/realm/record.ts'

export type IdTokenClaims = Readonly<Record<string, unknown>>

type ClaimSettings = Pick<
  OidcProviderRecord,
  'authid_claim' | 'role_claim' | 'role_claim_fallback' | 'role_mapping'
>

const CONTROL = /\p{Cc}/u

/**
 * `authid_claim`, otherwise `sub`; null counts as absent. Undefined for a claim that is empty, not a string, or
 * contains control characters: names are never cleaned.
 */
export const readAuthid = (claims: IdTokenClaims, settings: ClaimSettings): string | undefined => {
  const named = readClaim(claims, settings.authid_claim ?? 'preferred_username')
  const authid = named ?? readClaim(claims, 'sub')
  const isName = typeof authid === 'string' && authid !== '' && !CONTROL.test(authid)
  return isName ? authid : undefined
}

/**
 * Roles in the provider's order. A string is a list of one; other values are ignored; a role that `role_mapping`
 * lacks passes through.
 * @example readRoles({ realm_access: { roles: ['a'] } }, { role_claim: 'realm_access.roles' }) // ['a']
 */
export const readRoles = (claims: IdTokenClaims, settings: ClaimSettings): readonly string[] => {
  const found =
    readClaim(claims, settings.role_claim ?? 'roles') ??
    readClaim(claims, settings.role_claim_fallback ?? 'role')
  const listed: readonly unknown[] = Array.isArray(found) ? found : [found]
  const mapping = settings.role_mapping ?? {}
  return listed
    .filter((role) => typeof role === 'string')
    .filter((role) => role !== '' && !CONTROL.test(role))
    .map((role) => (Object.hasOwn(mapping, role) ? (mapping[role] ?? role) : role))
}

/** The whole name as an own member first (`https://example.com/roles`), then along its dots. */
const readClaim = (claims: IdTokenClaims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name] ?? undefined
  let value: unknown = claims
  for (const key of name.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    if (!Object.hasOwn(value, key)) return undefined
    value = (value as IdTokenClaims)[key]
  }
  return value ?? undefined
}
