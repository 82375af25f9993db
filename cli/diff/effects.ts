// Says of each changed member what it means for callers and owners, in one table. What the table does not have may break
// somebody: a new key of documents appears in a difference by itself. Pure.

import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Effect, Entry } from './entry.ts'
import { isOpen, corsEffects, securityEffects } from './security-effects.ts'

export interface MemberChange {
  /** Name of the member, and of members within. */
  readonly path: readonly string[]
  /** undefined: there is none. */
  readonly before: Value | undefined
  readonly after: Value | undefined
}

interface Sides {
  readonly left: ValueMap
  readonly right: ValueMap
}

type EffectRule = (change: MemberChange, sides: Sides) => readonly Effect[]

const always =
  (...effects: readonly Effect[]): EffectRule =>
  () =>
    effects

const CHANGED = always('changed')
const MAY_BREAK = always('may break')

/** A smaller bound, or less time. */
const bound: EffectRule = ({ before, after }) =>
  typeof before === 'number' && typeof after === 'number' && after > before
    ? ['changed']
    : ['may break']

/** What is no longer in a list, nor within a range of media types. */
const choice: EffectRule = ({ before, after }) =>
  listOf(before).every((each) => listOf(after).some((other) => isWithin(each, other)))
    ? ['changed']
    : ['breaking']

const isWithin = (each: Value, other: Value): boolean =>
  each === other ||
  other === '*/*' ||
  (typeof each === 'string' &&
    typeof other === 'string' &&
    other.endsWith('/*') &&
    each.startsWith(other.slice(0, -1)))

const listOf = (value: Value | undefined): readonly Value[] =>
  value !== undefined && isList(value) ? value : []

/** Clients ignore a member that is new. */
const response: EffectRule = ({ path, before }) => {
  if (path.at(-1) === 'status_code') return ['breaking']
  return before === undefined && path.length > 1 ? ['changed'] : ['may break']
}

/** Something that requests must satisfy: a limit or a schema by its name. */
const requirement =
  (within: EffectRule): EffectRule =>
  (change, sides) => {
    const { path, before, after } = change
    if (path.length > 2) return within(change, sides)
    if (before === undefined) return ['breaking']
    return after === undefined ? ['loosened'] : ['may break']
  }

/** Fewer of these let less through; more of the others do. */
const LETS_THROUGH = new Set(['requests', 'burst'])

const rateLimit: EffectRule = ({ path, before, after }) => {
  if (typeof before !== 'number' || typeof after !== 'number') return ['may break']
  return LETS_THROUGH.has(path[2] ?? '') === after > before ? ['loosened'] : ['breaking']
}

/** Where a request goes to is not for clients to see. */
const TARGETS = new Set(['host', 'hosts', 'credential'])

const action: EffectRule = (change, sides) => {
  const name = change.path[1] ?? ''
  if (TARGETS.has(name)) return ['changed']
  const { left } = sides
  const isAnswer =
    isMap(left['action'] ?? null) && (left['action'] as ValueMap)['type'] === 'static'
  return isAnswer ? response(change, sides) : ['may break']
}

const schemes: EffectRule = ({ before, after }) => {
  const effects = members(listOf(before), listOf(after))
  return effects.filter((effect) => effect === 'breaking' || listOf(after).includes('http'))
}

/** Others know the users of another realm, or the same by other credentials. */
const realm: EffectRule = (_change, { left }) =>
  isOpen(left['security']) ? ['may break'] : ['loosened', 'breaking']

/** Compared whole, and judged by what they mean together. */
export const WHOLE: ReadonlySet<string> = new Set(['security', 'cors'])

const OF_DOCUMENTS: Readonly<Record<string, EffectRule>> = {
  document: CHANGED,
  realm,
  security: ({ before, after }) => securityEffects(before, after),
  cors: ({ before, after }) => corsEffects(before, after),
  schemes,
  accepts: choice,
  provides: choice,
  languages: choice,
  limits: bound,
  rate_limits: requirement(rateLimit),
  schema: requirement(MAY_BREAK),
  // A result that was sent may be an error now, or one that was held back is sent.
  schema_mode: ({ after }) => (after === 'enforce' ? ['may break'] : ['loosened']),
  pool_size: bound,
  action,
  response_headers: response,
  on_result: response,
  on_error: response,
  on_refusal: response,
  is_deprecated: CHANGED,
  deprecation_headers: CHANGED,
  status_codes: always('breaking'),
}

/** Whose names, keys and issuers let callers in: one more lets in more, one less keeps someone out. */
const callers: EffectRule = ({ path, before, after }) => {
  if (path.some((name) => NOTES.has(name))) return ['changed']
  if (before !== undefined && after !== undefined && isList(before) && isList(after))
    return members(before, after)
  if (before === undefined) return ['loosened']
  if (after === undefined) return ['breaking']
  // Those who know the new secret are let in, as they are meant to be.
  return path.some((name) => SECRETS.has(name)) ? ['may break'] : ['loosened', 'may break']
}

const NOTES = new Set(['meta', 'description'])
const SECRETS = new Set(['password_hash', 'key_sha256', 'client_secret'])

const members = (before: readonly Value[], after: readonly Value[]): readonly Effect[] => [
  ...(after.every((each) => before.includes(each)) ? [] : (['loosened'] as const)),
  ...(before.every((each) => after.includes(each)) ? [] : (['breaking'] as const)),
]

/** Left out, it takes any. */
const origins: EffectRule = ({ before, after }) => {
  if (before === undefined) return ['breaking']
  if (after === undefined) return ['loosened']
  return members(listOf(before), listOf(after))
}

const router: EffectRule = ({ path, before, after }) => {
  if (path.length > 1) return ['may break']
  if (before === undefined) return ['changed']
  return after === undefined ? ['breaking'] : ['may break']
}

const OF_REALMS: Readonly<Record<string, EffectRule>> = {
  description: CHANGED,
  info: (change, sides) =>
    change.path[1] === 'oidc_providers' ? callers(change, sides) : ['changed'],
  users: callers,
  api_keys: callers,
  trusted_issuers: callers,
  signatures: callers,
  groups: CHANGED,
  authmethods: callers,
  credentials: MAY_BREAK,
  callback_origins: callers,
  allowed_origins: origins,
  allowedNamespaces: always('loosened', 'may break'),
  allowedHosts: origins,
  call_timeout: bound,
  router,
}

/** A word of a document that is in neither table may break someone. */
export const effectsOf = (
  kind: Entry['kind'],
  change: MemberChange,
  sides: Sides,
): readonly Effect[] => {
  const table = kind === 'realm' ? OF_REALMS : OF_DOCUMENTS
  const name = change.path[0] ?? ''
  const rule = Object.hasOwn(table, name) ? table[name] : undefined
  return rule === undefined ? ['may break'] : rule(change, sides)
}
