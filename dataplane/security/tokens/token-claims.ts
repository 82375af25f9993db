// Reads who somebody is from the claims of a verified token, where the Realm says that they stand (behaviour §6, *Claims*):
// the same for the ID token of a login and the token of a trusted issuer. It looks up own members only.

import { pointerKeys } from '../../../base/json-pointer.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../../language/expression/value.ts'
import type { OidcProviderRecord, TrustedIssuerRecord } from '../../../language/realm/record.ts'

export type TokenClaims = Readonly<Record<string, unknown>>

/** What an identity provider and a trusted issuer have in common. */
export type ClaimSettings = Pick<
  OidcProviderRecord & TrustedIssuerRecord,
  'role_mapping' | 'role_filter' | 'claim_separator' | 'claims' | 'require'
>

/** One path, or several. */
export type ClaimPaths = string | readonly string[]

const CONTROL = /\p{Cc}/u
/** Most values that are read of one claim. */
const MAX_VALUES = 10_000

/**
 * The first of the paths that leads somewhere, otherwise `sub`; null counts as absent. Undefined for a name that is
 * empty, not a text, or contains control characters: names are never cleaned.
 * @example readAuthid({ sub: 's', email: 'e@x' }, ['upn', 'email']) // 'e@x'
 */
export const readAuthid = (claims: TokenClaims, paths: ClaimPaths): string | undefined => {
  const [authid] = valuesAt(claims, [paths, 'sub'].flat())
  return isName(authid) ? authid : undefined
}

export interface TextsOptions {
  /** Where the Realm names no claim. A map in it counts for nothing. */
  readonly otherwise?: string | undefined
  /** Splits texts. */
  readonly separator?: string | undefined
}

/**
 * What the claims that the Realm names have, joined in their order: lists of texts, texts, and the names of maps whose value
 * is not false or null. Other values, and texts that are no names, are ignored. undefined: there is no such claim.
 * @example readTexts({ roles: { admin: {}, guest: false } }, 'roles') // ['admin']
 */
export const readTexts = (
  claims: TokenClaims,
  named: ClaimPaths | undefined,
  { otherwise = '', separator }: TextsOptions = {},
): readonly string[] | undefined => {
  const found = valuesAt(claims, [named ?? otherwise].flat())
  if (found.length === 0) return undefined
  const texts = found.flatMap((value) =>
    isMap(value) ? namesOf(named === undefined ? {} : value) : textsOf(value, separator),
  )
  return found.length === 1 ? texts : [...new Set(texts)]
}

/** The first of the paths that leads to a name. */
export const readText = (claims: TokenClaims, paths: ClaimPaths): string | undefined =>
  valuesAt(claims, [paths].flat()).find(isName)

const textsOf = (value: unknown, separator: string | undefined): readonly string[] => {
  if (typeof value === 'string')
    return (separator === undefined ? [value] : value.split(separator, MAX_VALUES)).filter(isName)
  return isList(value) ? value.slice(0, MAX_VALUES).filter(isName) : []
}

const namesOf = (value: ValueMap): readonly string[] =>
  Object.keys(value)
    .slice(0, MAX_VALUES)
    .filter((name) => value[name] !== false && value[name] !== null && isName(name))

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !CONTROL.test(value)

/**
 * Roles as the Realm names them, and of these the ones that it lets through; one that `role_mapping` lacks keeps its name.
 * @example mapRoles(['a', 'hr'], { role_mapping: { a: 'shop-admin' }, role_filter: ['shop-*'] }) // ['shop-admin']
 */
export const mapRoles = (
  roles: readonly string[],
  { role_mapping: mapping = {}, role_filter: filter }: ClaimSettings,
): readonly string[] => {
  const mapped = roles.map((role) =>
    Object.hasOwn(mapping, role) ? (mapping[role] ?? role) : role,
  )
  return filter === undefined
    ? mapped
    : mapped.filter((role) => filter.some((pattern) => matchesPattern(role, pattern)))
}

/** `*` stands for any text. In linear time, as roles come from outside. */
const matchesPattern = (text: string, pattern: string): boolean => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/**
 * The claims that the Realm names, for `{{security.claims.…}}`: texts, numbers, booleans and lists of them. undefined: it
 * names none.
 */
export const readNamedClaims = (
  claims: TokenClaims,
  { claims: named }: ClaimSettings,
): ValueMap | undefined => {
  if (named === undefined) return undefined
  const found: Record<string, Value> = {}
  for (const [name, paths] of Object.entries(named)) {
    const value = plainAt(claims, paths)
    if (value !== undefined) setOwn(found, name, value)
  }
  return found
}

export interface UnmetRequirement {
  readonly claim: string
  readonly expected: string
}

/**
 * The first entry of `require` that the claims do not meet: a name of `claims`, or a path, and the values that count.
 * @example unmetRequirement({ hd: 'b.test' }, { require: { hd: 'a.test' } }) // { claim: 'hd', expected: 'a.test' }
 */
export const unmetRequirement = (
  claims: TokenClaims,
  { require: required = {}, claims: named = {} }: ClaimSettings,
): UnmetRequirement | undefined => {
  for (const [claim, wanted] of Object.entries(required)) {
    const paths = Object.hasOwn(named, claim) ? (named[claim] ?? claim) : claim
    const found = [plainAt(claims, paths) ?? []].flat().map(String)
    const accepted = [wanted].flat()
    if (!accepted.some((each) => found.includes(each)))
      return { claim, expected: accepted.join(', ') }
  }
  return undefined
}

/** What the first path leads to that leads anywhere, if that is a text, a number, a boolean or a list of them. */
const plainAt = (claims: TokenClaims, paths: ClaimPaths): Plain | readonly Plain[] | undefined => {
  const [value] = valuesAt(claims, [paths].flat())
  if (isPlain(value)) return value
  return isList(value) && value.length <= MAX_VALUES && value.every(isPlain) ? value : undefined
}

type Plain = string | number | boolean

const isPlain = (value: unknown): value is Plain =>
  ['string', 'number', 'boolean'].includes(typeof value)

const valuesAt = (claims: TokenClaims, paths: readonly string[]): readonly unknown[] =>
  paths.map((path) => readClaim(claims, path)).filter((value) => value !== undefined)

/**
 * Finds a claim by a JSON pointer (`/resource_access/app.acme.test/roles`), which also leads into lists; else the whole name as an own
 * member first (`https://example.com/roles`), then along its dots. null counts as absent.
 */
const readClaim = (claims: TokenClaims, path: string): unknown => {
  if (path.startsWith('/')) return walk(claims, pointerKeys(path)) ?? undefined
  if (Object.hasOwn(claims, path)) return claims[path] ?? undefined
  const found = walk(claims, path.split('.'), isMap)
  return found ?? undefined
}

const walk = (
  claims: TokenClaims,
  keys: readonly string[],
  isOpen: (value: unknown, key: string) => boolean = isMember,
): unknown => {
  let value: unknown = claims
  for (const key of keys) {
    if (!isOpen(value, key) || !Object.hasOwn(value as object, key)) return undefined
    value = (value as TokenClaims)[key]
  }
  return value
}

/** A list has a `length` too. */
const isMember = (value: unknown, key: string): boolean =>
  isMap(value) || (isList(value) && /^\d+$/.test(key))
