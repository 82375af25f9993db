// Decides which reads of the context can never find anything where they stand, and says why: a binding that the path
// does not have, a name that no header can have, `action.error` in a successful response.

import { didYouMean } from '../../base/nearest-name.ts'
import { type CompiledSecurity, isAnonymous } from './security.ts'
import type { Method } from '../document.ts'
import { showKey } from '../expression/errors.ts'
import type { Root } from '../expression/template.ts'
import { type ActionType, resultKeysOf } from './action.ts'
import { isHeaderName } from './headers.ts'

/** When a template is evaluated. `any`: for headers of a path, which all kinds of responses have. */
export type Phase = 'action' | 'result' | 'error' | 'any' | 'refusal'

/** What is known about the requests of an operation. */
export interface RequestFacts {
  /** `/v1/orders/:id` */
  readonly path: string
  readonly method: Method
  /** Names that path and host bind; undefined: these are invalid. */
  readonly bindings: readonly string[] | undefined
  /** undefined: it is invalid. */
  readonly security: CompiledSecurity | undefined
  readonly action: ActionType
}

type FieldKind = 'text' | 'number' | 'map' | 'any'

/** Fields of §2.10: reading any other key of `request` can only fail. */
const REQUEST_FIELDS: Readonly<Record<string, FieldKind>> = {
  id: 'text',
  method: 'text',
  scheme: 'text',
  peername: 'text',
  client_address: 'text',
  path: 'text',
  host: 'text',
  port: 'text',
  headers: 'map',
  language: 'text',
  query_string: 'text',
  query_params: 'map',
  bindings: 'map',
  body: 'any',
  body_length: 'number',
}

const FIELD_NAMES = Object.keys(REQUEST_FIELDS)

/** Names of other gateways for fields of a request. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['params', 'bindings for the path, query_params for the query'],
  ['path_params', 'bindings'],
  ['args', 'query_params'],
  ['query', 'query_params'],
  ['url', 'path and query_string'],
  ['uri', 'path and query_string'],
  ['ip', 'client_address'],
  ['remote_addr', 'client_address'],
  ['remote_address', 'client_address'],
  ['client_ip', 'client_address'],
  ['cookies', 'headers.cookie'],
])

/** @returns undefined: the value may exist */
export const explainMissingRead = (
  root: Root,
  keys: readonly string[],
  phase: Phase,
  facts: RequestFacts,
): string | undefined => {
  const [first, second] = keys
  if (first === undefined) return undefined
  switch (root) {
    case 'request':
      return second === undefined ? unknownField(first) : missingInField(first, keys, facts)
    case 'action':
      return missingInAction(first, second, phase, facts)
    case 'security':
      return missingIdentity(facts)
    case 'refusal':
      return missingIn('refusal', first, REFUSAL_KEYS)
    case 'status_codes':
      return undefined
  }
}

/** Whether every request has the field, with a text that is not empty. */
export const isNeverEmptyField = (name: string): boolean =>
  NEVER_EMPTY.has(name) || kindOfField(name) === 'map'

const NEVER_EMPTY: ReadonlySet<string> = new Set(['id', 'method', 'scheme', 'path', 'body_length'])

const kindOfField = (name: string): FieldKind | undefined =>
  Object.hasOwn(REQUEST_FIELDS, name) ? REQUEST_FIELDS[name] : undefined

const unknownField = (name: string): string | undefined => {
  if (kindOfField(name) !== undefined) return undefined
  const known = OTHER_NAMES.get(name.toLowerCase())
  const bracket = name.indexOf('[')
  const hint =
    bracket > 0
      ? `; keys are read with a dot, as in request.${name.slice(0, bracket)}.name, and items of a list with nth`
      : known === undefined
        ? didYouMean(name, FIELD_NAMES)
        : `; it is called ${known} here`
  // The most important first: kubectl shows 120 characters.
  return `request has no ${showKey(name)}${hint || `; it has ${FIELD_NAMES.join(', ')}`}`
}

const missingInField = (
  field: string,
  [, name = '', ...deeper]: readonly string[],
  facts: RequestFacts,
): string | undefined => {
  const kind = kindOfField(field)
  if (kind === undefined) return unknownField(field)
  if (kind === 'any') return undefined
  if (kind !== 'map')
    return `request.${field} is a ${kind}, not a map, so it has no key ${showKey(name)}`
  const missing =
    field === 'bindings'
      ? missingBinding(name, facts)
      : field === 'headers'
        ? unmatchedHeader(name)
        : undefined
  if (missing !== undefined || deeper.length === 0) return missing
  return `request.${field}.${name} is a text, not a map, so it has no key ${showKey(deeper[0] ?? '')}`
}

const missingBinding = (name: string, { bindings, path }: RequestFacts): string | undefined => {
  if (bindings === undefined || bindings.includes(name)) return undefined
  const hint =
    didYouMean(name, bindings) ||
    (bindings.length === 0
      ? `; a segment is bound with a colon, as in ${withBinding(path, name)}`
      : `; it has ${bindings.map(showKey).join(', ')}`)
  return `the path ${path} has no binding ${showKey(name)}${hint}`
}

const withBinding = (path: string, name: string): string => {
  const binding = `:${/^[a-z_][a-z0-9_]*$/i.test(name) ? name : 'name'}`
  const segments = path.replace(/\/$/, '').split('/')
  const asElsewhere = segments.findIndex((segment) => /^(?:\{.*\}|<.*>|\*+)$/.test(segment))
  return asElsewhere === -1
    ? [...segments, binding].join('/')
    : segments.with(asElsewhere, binding).join('/')
}

/** @returns undefined: some request may have the header */
export const unmatchedHeader = (name: string): string | undefined =>
  isHeaderName(name) ? undefined : `no header can be called ${showKey(name)}`

const USUAL_HEADERS: ReadonlySet<string> = new Set(
  (
    'accept-encoding accept-language cache-control content-disposition content-encoding content-language content-length ' +
    'content-location content-type idempotency-key if-match if-modified-since if-none-match if-unmodified-since ' +
    'last-event-id proxy-authorization sec-fetch-dest sec-fetch-mode sec-fetch-site transfer-encoding user-agent'
  ).split(' '),
)

/**
 * The name of a header with `-` in place of `_`, where that is how people know it; else undefined.
 * @example usualHeader('content_type') // 'content-type'
 */
export const usualHeader = (name: string): string | undefined => {
  if (!name.includes('_')) return undefined
  const usual = name.toLowerCase().replaceAll('_', '-')
  return USUAL_HEADERS.has(usual) || usual.startsWith('x-') ? usual : undefined
}

const ERROR_KEYS = 'error_uri message status_code headers body args kwargs details'.split(' ')

const missingInAction = (
  member: string,
  key: string | undefined,
  phase: Phase,
  { action }: RequestFacts,
): string | undefined => {
  if (member !== 'result' && member !== 'error')
    return `action has no ${showKey(member)}; it has result (in on_result) and error (in on_error)`
  if (phase === 'any') return undefined
  if (phase !== member)
    return `action.${member} is there in on_${member} only${phase === 'action' ? ', once the action is done' : ''}`
  return key === undefined ? undefined : missingInMember(member, key, action)
}

const REFUSAL_KEYS = 'code status message errors request_id'.split(' ')

const missingInMember = (
  member: 'result' | 'error',
  key: string,
  action: ActionType,
): string | undefined => {
  const known = member === 'error' ? ERROR_KEYS : resultKeysOf(action)
  const of = member === 'result' ? ` of a ${action} action` : ''
  return known && missingIn(`action.${member}${of}`, key, known)
}

const missingIn = (what: string, key: string, known: readonly string[]): string | undefined =>
  known.includes(key)
    ? undefined
    : `${what} has no ${showKey(key)}${didYouMean(key, known) || `; it has ${known.join(', ')}`}`

const missingIdentity = ({ security, method }: RequestFacts): string | undefined => {
  if (security !== undefined && isAnonymous(security))
    return 'security is empty, as anybody may call this: give the path a security, or read it with get and a default'
  return method === 'options'
    ? 'security is empty, as callers of OPTIONS need no credentials: read it with get and a default'
    : undefined
}
