// Decides whether a changed Security Object, or `cors`, lets in callers that it did not, and keeps out some that it did. Pure.

import { BlockList, isIP } from 'node:net'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { isSameValue } from '../../operator/resource/same-value.ts'
import type { Effect } from './entry.ts'

/** Described, as the folded view has it. */
export const securityEffects = (
  before: Value | undefined,
  after: Value | undefined,
): readonly Effect[] => {
  const [left, right] = [before, after].map(alternativesOf)
  if (left === undefined || right === undefined) return ['loosened', 'breaking']
  const isWithin = (each: ValueMap, those: readonly ValueMap[]): boolean =>
    those.some((other) => admitsAll(other, each))
  const effects: readonly Effect[] = [
    ...(right.every((each) => isWithin(each, left)) ? [] : (['loosened'] as const)),
    ...(left.every((each) => isWithin(each, right)) ? [] : (['breaking'] as const)),
  ]
  return effects.length === 0 ? ['may break'] : effects
}

/** Whether anybody may call, from some networks at least. */
export const isOpen = (security: Value | undefined): boolean =>
  alternativesOf(security)?.some(({ type }) => type === 'none') === true

const alternativesOf = (security: Value | undefined): readonly ValueMap[] | undefined => {
  if (security === undefined || !isMap(security)) return undefined
  const { any_of: alternatives } = security
  return alternatives !== undefined && isList(alternatives)
    ? alternatives.filter((each) => isMap(each))
    : [security]
}

/** They say who may not call, not who may. */
const HARMLESS = new Set(['unauthenticated', 'token_path', 'revoke_token_path'])

type IsWithin = (narrow: readonly string[], wide: readonly string[]) => boolean

const isSubset: IsWithin = (narrow, wide) => narrow.every((each) => wide.includes(each))

/** A caller must meet one of groups, roles and networks, and all scopes. */
const REQUIREMENTS: Readonly<Record<string, IsWithin>> = {
  groups: isSubset,
  roles: isSubset,
  scopes: (narrow, wide) => isSubset(wide, narrow),
  networks: (narrow, wide) => narrow.every((each) => wide.some((other) => contains(other, each))),
}

/** Whether `wide` lets in everyone that `narrow` does. Of a member that is not known it is not said. */
const admitsAll = (wide: ValueMap, narrow: ValueMap): boolean => {
  const isAnybody = wide['type'] === 'none'
  const names = new Set([...Object.keys(wide), ...(isAnybody ? [] : Object.keys(narrow))])
  return [...names].every((name) => {
    if (HARMLESS.has(name) || (isAnybody && name === 'type')) return true
    const [left, right] = [wide[name], narrow[name]]
    const isWithin = REQUIREMENTS[name]
    if (isWithin === undefined) return isSameValue(left, right)
    return left === undefined || (right !== undefined && isWithin(textsOf(right), textsOf(left)))
  })
}

const textsOf = (value: Value | undefined): readonly string[] =>
  value !== undefined && isList(value) ? value.map(String) : []

/** @example contains('10.0.0.0/8', '10.1.0.0/16') // true */
const contains = (wide: string, narrow: string): boolean => {
  if (wide === narrow) return true
  const [outer, inner] = [wide, narrow].map(networkOf)
  if (outer === undefined || inner === undefined) return false
  if (outer.family !== inner.family || outer.bits > inner.bits) return false
  const list = new BlockList()
  list.addSubnet(outer.address, outer.bits, outer.family)
  return list.check(inner.address, inner.family)
}

const networkOf = (
  text: string,
):
  | { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' }
  | undefined => {
  const [address = '', length] = text.split('/')
  const version = isIP(address)
  if (version === 0) return undefined
  const bits = length === undefined ? (version === 4 ? 32 : 128) : Number(length)
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' }
}

const NO_PAGES: ValueMap = {
  origins: [],
  allowed_methods: [],
  allowed_headers: [],
  exposed_headers: [],
}

/** Pages of other origins that could not call, with cookies, or with other methods and headers. */
export const corsEffects = (
  before: Value | undefined,
  after: Value | undefined,
): readonly Effect[] => {
  const [left, right] = [before, after].map((cors) =>
    cors !== undefined && isMap(cors) ? cors : NO_PAGES,
  )
  if (left === undefined || right === undefined) return ['loosened', 'breaking']
  const effects: readonly Effect[] = [
    ...(isWider(left, right) ? (['loosened'] as const) : []),
    ...(isWider(right, left) ? (['breaking'] as const) : []),
  ]
  return effects.length === 0 ? ['changed'] : effects
}

const isWider = (before: ValueMap, after: ValueMap): boolean =>
  (after['credentials'] === true && before['credentials'] !== true) ||
  ['origins', 'allowed_methods', 'allowed_headers', 'exposed_headers'].some((name) => {
    // Without allowed_methods they are those of the path.
    const [left, right] = [before[name], after[name]].map((list) =>
      list === undefined ? ['*'] : textsOf(list),
    )
    return left?.includes('*') === false && right?.some((each) => !left.includes(each)) === true
  })
