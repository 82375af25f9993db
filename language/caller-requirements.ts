// Finds the groups, roles and scopes that a compiled document requires of callers, and warns of those that no user of its
// realm has, unless an identity provider or issuer could give them. Pure; the cost is linear in what the document requires.

import { oncePer } from '../base/once.ts'
import { childPointer } from '../base/json-pointer.ts'
import { createDiagnostics, type FindPlace } from './compile/diagnostics.ts'
import { authSchemesOf, type SecurityScheme } from './compile/security.ts'
import type { CompiledApi } from './compile/compiled.ts'
import type { Warning } from './problem.ts'
import type { RealmRecord, UserRecord } from './realm/record.ts'
import { isServedFlow } from './realm/token-flows.ts'

/** What one Security Object requires. Plain data: it may come from another thread. */
export interface CallerRequirement {
  /** Where the Security Object stands in the document. */
  readonly pointer: string
  readonly type: SecurityScheme['type']
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
  readonly scopes?: readonly string[]
}

/** Pointers and names of one document together. Beyond that nothing is warned of. */
const MAX_CHARACTERS = 64 * 1024

/**
 * Those of active versions that users of the realm alone may meet, each once. The roles of a provider and the tokens of an
 * issuer may have any group: their schemes are left out, where it is known.
 */
export const callerRequirementsOf = ({ versions }: CompiledApi): readonly CallerRequirement[] => {
  const found = new Map<string, CallerRequirement>()
  let room = MAX_CHARACTERS
  const add = (requirement: CallerRequirement | undefined): void => {
    if (requirement === undefined) return
    const size = sizeOf(requirement)
    if (size > room) return
    const key = JSON.stringify(requirement)
    if (found.has(key)) return
    found.set(key, requirement)
    room -= size
  }
  for (const { paths } of versions.filter(({ isActive }) => isActive))
    for (const { operations } of paths)
      for (const scheme of Object.values(operations).flatMap(({ security }) =>
        authSchemesOf(security),
      ))
        add(requirementOf(scheme))
  return [...found.values()]
}

const requirementOf = (security: SecurityScheme): CallerRequirement | undefined => {
  if (security.pointer === undefined) return undefined
  // Who signs is in no group, which has a warning already.
  if (security.type === 'oidc' || security.type === 'hmac') return undefined
  // The other flows need a trusted issuer; without one there is a warning already.
  if (security.type === 'oauth2' && !isServedFlow(security.flow)) return undefined
  const { type, pointer, groups, roles, scopes } = security
  return {
    pointer,
    type,
    ...(groups !== undefined && { groups }),
    ...(roles !== undefined && { roles }),
    ...(scopes !== undefined && { scopes }),
  }
}

const sizeOf = ({ pointer, groups = [], roles = [], scopes = [] }: CallerRequirement): number =>
  [groups, roles, scopes].reduce(
    (sum, names) => names.reduce((inner, name) => inner + name.length + 1, sum),
    pointer.length,
  )

/** The groups that users of a realm are in. They are the roles of a user as well, and the scopes of its tokens. */
export interface CallerGroups {
  /** undefined: the realm has no users. */
  readonly ofUsers: ReadonlySet<string> | undefined
  /** The groups of users who have an API key; undefined: the realm has no API keys. */
  readonly ofKeyOwners: ReadonlySet<string> | undefined
}

/** @example callerGroupsOf({ uri: 'com.acme', users: [{ username: 'bob', groups: ['staff'] }] }).ofUsers // new Set(['staff']) */
export const callerGroupsOf = oncePer(
  ({ users = [], api_keys: apiKeys = [] }: RealmRecord): CallerGroups => {
    const keyOwners = new Set(apiKeys.map(({ username }) => username))
    const owners = users.filter(({ username }) => keyOwners.has(username))
    return {
      ofUsers: users.length === 0 ? undefined : groupsOf(users),
      ofKeyOwners: apiKeys.length === 0 ? undefined : groupsOf(owners),
    }
  },
)

const groupsOf = (users: readonly UserRecord[]): ReadonlySet<string> =>
  new Set(users.flatMap(({ groups = [] }) => groups))

export interface RealmCallers {
  readonly groups: CallerGroups
  /** It trusts issuers, whose tokens may have any group. */
  readonly hasIssuers: boolean
}

/**
 * Warns of requirements that no user meets, so that every request is rejected.
 * @param hasSecrets the document has variables from Secrets: names may come from one, and are not shown
 */
export const warnOfRequirements = (
  requirements: readonly CallerRequirement[],
  { groups, hasIssuers }: RealmCallers,
  { findPlace, hasSecrets }: { readonly findPlace: FindPlace; readonly hasSecrets: boolean },
): readonly Warning[] => {
  const diagnostics = createDiagnostics(findPlace)
  for (const requirement of requirements) {
    const { pointer, type } = requirement
    if (type === 'oauth2' && hasIssuers) continue
    const known = type === 'api_key' ? groups.ofKeyOwners : groups.ofUsers
    // A realm without any caller has a warning already, where the document is compiled.
    if (known === undefined) continue
    for (const member of MEMBERS) {
      const missing = missingNames(requirement, member, known)
      if (missing.length === 0) continue
      diagnostics.warning(
        'UnsatisfiedSecurity',
        childPointer(pointer, member),
        `${WORDS[member]}no user of the realm ${type === 'api_key' ? 'who has an API key ' : ''}` +
          `is in ${describeGroups(hasSecrets ? [] : missing)}: ` +
          'every request is rejected (403) until one is',
      )
    }
  }
  return diagnostics.warnings
}

type Member = 'groups' | 'roles' | 'scopes'

const MEMBERS: readonly Member[] = ['groups', 'roles', 'scopes']

/** A caller needs one of the groups and roles, and all scopes. Passwords and keys have no scopes, whatever the realm says. */
const missingNames = (
  { type, groups = [], roles = [], scopes = [] }: CallerRequirement,
  member: Member,
  known: ReadonlySet<string>,
): readonly string[] => {
  const isMissing = (name: string): boolean => !known.has(name)
  const missing = {
    groups: () => (groups.every(isMissing) ? groups : []),
    roles: () => (roles.every(isMissing) ? roles : []),
    scopes: () => (type === 'oauth2' ? scopes.filter(isMissing) : []),
  } satisfies Record<Member, () => readonly string[]>
  return missing[member]()
}

const WORDS = {
  groups: '',
  roles: 'the roles of a user are its groups, and ',
  scopes: 'the scopes of a token are groups of its user, and ',
} as const satisfies Record<Member, string>

const MAX_NAMES = 5
const MAX_NAME_LENGTH = 60

const describeGroups = (names: readonly string[]): string => {
  const [first] = names
  if (first === undefined) return 'any group that is required here'
  if (names.length === 1) return `the group ${quoted(first)}`
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return `any of the groups ${names.slice(0, MAX_NAMES).map(quoted).join(', ')}${more}`
}

const quoted = (name: string): string =>
  name.length <= MAX_NAME_LENGTH
    ? `'${name}'`
    : `'${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}…'`
