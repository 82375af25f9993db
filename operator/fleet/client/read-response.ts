// Reads unknown bodies of a data plane's responses as the wire types, or gives undefined. A data plane of another
// version may send more than we know, which is left out, or less, which has a default. What may be shown to a person is
// short and printable, and codes are of closed sets.

import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import type { Problem, ProblemCode, Warning } from '../../../language/problem.ts'
import type {
  RealmState,
  SessionState,
  SpecState,
  StateView,
  SyncItem,
  SyncReply,
} from '../../../language/wire/wire.ts'
import { plainText } from './plain-text.ts'
import {
  readFailingCredentials,
  readFailingProviders,
  readFailingUpstreams,
} from './read-reported-failures.ts'
import {
  isCount,
  isMemberOf,
  isName,
  mapsIn,
  MAX_NAME_LENGTH,
  numberOr,
  textOr,
  textOrNull,
} from './read-values.ts'

/** What a 4xx says. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** Of a 409: the epoch that the data plane knows. */
  readonly epoch?: number
  /** Of a 409 of `complete`: what the data plane has loaded. */
  readonly rootDigest?: string
}

/** `bootId`, `rootDigest`, `specs` and a digest of each entry are required: without one of them it gives undefined. */
export const readStateView = (body: unknown): StateView | undefined => {
  if (!isMap(body)) return undefined
  const { bootId, rootDigest, manager, gatewayVersion, upstreams } = body
  if (!isName(bootId) || !isName(rootDigest)) return undefined
  const specs = readEntries(body['specs'], { read: readSpecState, isWhole: isWholeSpec })
  const realms = readEntries(body['realms'] ?? {}, { read: readRealmState })
  if (specs === undefined || realms === undefined) return undefined
  return {
    bootId,
    rootDigest,
    specs,
    realms,
    version: numberOr(body['version'], 0),
    epoch: numberOr(body['epoch'], 0),
    manager: textOrNull(manager)?.slice(0, MAX_NAME_LENGTH) ?? null,
    complete: body['complete'] === true,
    ...(isVersion(gatewayVersion) && { gatewayVersion }),
    ...(upstreams !== undefined &&
      isMap(upstreams) && { upstreams: readFailingUpstreams(upstreams) }),
  }
}

/** `namespace/name`, or empty. */
const isResource = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_RESOURCE_LENGTH

const MAX_RESOURCE_LENGTH = 253 + 1 + 253

const isVersion = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,6}(\.\d{1,6}){2}[\w.+-]{0,40}$/.test(value)

interface Reading<T> {
  readonly read: (entry: Value) => T | undefined
  /** It is what `read` would make of it, or says more. */
  readonly isWhole?: (entry: Value) => boolean
}

const readEntries = <T>(
  entries: Value | undefined,
  { read, isWhole = () => false }: Reading<T>,
): Readonly<Record<string, T>> | undefined => {
  if (entries === undefined || !isMap(entries)) return undefined
  // Nearly always: of 10,000 documents a copy costs more than reading the JSON did.
  if (areAll(entries, isWhole)) return entries as unknown as Readonly<Record<string, T>>
  const known: [string, T][] = []
  for (const [key, value] of Object.entries(entries)) {
    const entry = read(value)
    if (entry === undefined) return undefined
    known.push([key, entry])
  }
  // Own members all, also one that is called __proto__: `fromEntries` defines, it does not assign.
  return Object.fromEntries(known)
}

const areAll = (entries: ValueMap, isWhole: (entry: Value) => boolean): boolean => {
  for (const key of Object.keys(entries)) {
    const entry = entries[key]
    if (entry === undefined || !isWhole(entry)) return false
  }
  return true
}

const isWholeSpec = (entry: Value): boolean => {
  if (!isMap(entry)) return false
  const { digest, managedBy, resource, warnings } = entry
  return (
    isName(digest) &&
    (resource === undefined || isResource(resource)) &&
    (typeof managedBy === 'string' || managedBy === null) &&
    Array.isArray(warnings) &&
    warnings.length === 0
  )
}

const readSpecState = (entry: Value): SpecState | undefined => {
  if (!isMap(entry)) return undefined
  const { digest, managedBy, resource } = entry
  if (!isName(digest)) return undefined
  return {
    digest,
    managedBy: textOrNull(managedBy),
    ...(isResource(resource) && { resource }),
    warnings: shadowsIn(entry),
  }
}

const readRealmState = (entry: Value): RealmState | undefined => {
  if (!isMap(entry)) return undefined
  const { digest, managedBy } = entry
  if (!isName(digest)) return undefined
  const failingProviders = readFailingProviders(entry)
  const failingCredentials = readFailingCredentials(entry)
  return {
    digest,
    managedBy: textOrNull(managedBy),
    sessions: mapsIn(entry, 'sessions', MAX_SESSIONS).map(readSession),
    ...(failingProviders.length > 0 && { failingProviders }),
    ...(failingCredentials.length > 0 && { failingCredentials }),
  }
}

const MAX_SESSIONS = 64
const MAX_PROBLEMS = 16
const MAX_PATH_LENGTH = 512
const MAX_MESSAGE_LENGTH = 500

/** Only these warnings are new: the others are known since the document was validated here. */
const shadowsIn = (entry: ValueMap): readonly Warning[] =>
  mapsIn(entry, 'warnings', Infinity)
    .filter(({ code }) => code === 'Shadowed')
    .slice(0, MAX_PROBLEMS)
    .map((warning) => ({ code: 'Shadowed', ...textsOf(warning) }))

const readProblem = (problem: ValueMap): Problem => ({
  code: codeOf(problem['code']),
  ...textsOf(problem),
})

const textsOf = ({
  path,
  message,
}: ValueMap): { readonly path: string; readonly message: string } => ({
  path: plainText(textOr(path, ''), MAX_PATH_LENGTH),
  message: plainText(textOr(message, ''), MAX_MESSAGE_LENGTH),
})

const CODES = {
  missing_required_value: true,
  invalid_datatype: true,
  invalid_value: true,
  invalid_path: true,
  reserved_path: true,
  unsupported_action_type: true,
  invalid_expression: true,
  no_such_realm: true,
  too_expensive: true,
  conflict: true,
} satisfies Record<ProblemCode, true>

/** A code that this version does not know stands for some problem. */
const codeOf = (code: Value | undefined): ProblemCode =>
  isMemberOf(CODES, code) ? code : 'invalid_value'

const STATES = {
  connecting: true,
  open: true,
  waiting: true,
  refused: true,
} satisfies Record<SessionState['state'], true>

const readSession = ({ url, state, reason }: ValueMap): SessionState => ({
  url: textOr(url, ''),
  state: isMemberOf(STATES, state) ? state : 'connecting',
  ...(typeof reason === 'string' && { reason }),
})

/** Leaves out items with a result that this version does not know. */
export const readSyncReply = (body: unknown): SyncReply | undefined => {
  if (!isMap(body)) return undefined
  const { rootDigest, items, state } = body
  if (!isName(rootDigest) || items === undefined || !isList(items)) return undefined
  const { before, after } = state !== undefined && isMap(state) ? state : NO_STEP
  return {
    rootDigest,
    items: items.flatMap((item) => readItem(item) ?? []),
    ...(isName(before) && isName(after) && { state: { before, after } }),
  }
}

const NO_STEP: ValueMap = {}

const RESULTS = {
  loaded: true,
  unchanged: true,
  rejected: true,
  deleted: true,
} satisfies Record<SyncItem['result'], true>

const readItem = (item: Value): SyncItem | undefined => {
  if (!isMap(item)) return undefined
  const { id, kind, result } = item
  if (typeof id !== 'string' || (kind !== 'spec' && kind !== 'realm')) return undefined
  if (!isMemberOf(RESULTS, result)) return undefined
  return {
    id,
    kind,
    result,
    errors: mapsIn(item, 'errors', MAX_PROBLEMS).map(readProblem),
    warnings: shadowsIn(item),
  }
}

/** One realm as `GET /realms?view=source` describes it. */
export interface RealmSource {
  readonly uri: string
  /** A `RealmRecord`, as far as it may be read. */
  readonly realm: ValueMap
  /** JSON pointers to what was left out of it. */
  readonly secrets: readonly string[]
}

export const readRealmSources = (body: unknown): readonly RealmSource[] | undefined => {
  if (!Array.isArray(body)) return undefined
  const sources = body.flatMap((entry: unknown) => readRealmSource(entry) ?? [])
  return sources.length === body.length ? sources : undefined
}

const readRealmSource = (entry: unknown): RealmSource | undefined => {
  if (!isMap(entry)) return undefined
  const { realm, secrets } = entry
  if (realm === undefined || !isMap(realm) || secrets === undefined || !isList(secrets))
    return undefined
  const { uri } = realm
  if (typeof uri !== 'string') return undefined
  return { uri, realm, secrets: secrets.filter((each) => typeof each === 'string') }
}

export const readRefusal = (body: unknown): Refusal => {
  const { code, message, epoch, rootDigest } = isMap(body) ? body : ({} as ValueMap)
  return {
    code: plainText(textOr(code, ''), MAX_CODE_LENGTH),
    message: plainText(textOr(message, ''), MAX_MESSAGE_LENGTH),
    ...(isCount(epoch) && { epoch }),
    ...(isName(rootDigest) && { rootDigest }),
  }
}

const MAX_CODE_LENGTH = 64
