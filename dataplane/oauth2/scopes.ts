// Determines which groups and scopes a token gets from the subject's groups and the requested scope. A token never
// gets more than the subject has.

import { OAuthError } from './oauth-error.ts'

export interface GrantedScopes {
  /** In the order of the subject's own. */
  readonly groups: readonly string[]
  /** The groups that a scope can name. */
  readonly scopes: readonly string[]
}

/** RFC 6749 §3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * @param requested names separated by spaces; undefined: all
 * @throws OAuthError `invalid_scope` for one that is not available
 * @example grantScopes(['staff', 'sales dept'], undefined) // groups: both, scopes: ['staff']
 */
export const grantScopes = (
  available: readonly string[],
  requested: string | undefined,
): GrantedScopes => {
  const groups = requested === undefined ? [...new Set(available)] : chosen(available, requested)
  return { groups, scopes: groups.filter((group) => SCOPE_TOKEN.test(group)) }
}

const chosen = (available: readonly string[], requested: string): readonly string[] => {
  const wanted = new Set(requested.split(' '))
  const groups = [...new Set(available)].filter((group) => wanted.has(group))
  const isValid = groups.length === wanted.size && groups.every((group) => SCOPE_TOKEN.test(group))
  if (isValid) return groups
  throw new OAuthError(
    'invalid_scope',
    'scope_not_granted',
    'The scope may contain only groups of the subject, separated by one space',
  )
}
