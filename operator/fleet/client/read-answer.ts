// Reads unknown bodies of a data plane's responses as the wire types, or gives undefined. A data plane of another
// version may send more than we know, which is left out, or less, which has a default. What may be shown to a person is
// short and printable, and codes are of closed sets.

import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import type { Problem, ProblemCode, Warning } from '../../../language/problem.ts'
import type {
  CredentialCause,
  FailingCredential,
  FailingProvider,
  ProviderCause,
  RealmState,
  SessionState,
  SpecState,
  StateView,
  SyncItem,
  SyncReply,
  UpstreamCause,
  UpstreamTrouble,
} from '../../../language/wire/wire.ts'
import { isDecision } from './is-decision.ts'
import { plainText } from './plain-text.ts'

/** What a 4xx says. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** Of a 409: the epoch that the data plane knows. */
  readonly epoch?: number
  /** Of a 409 of `complete`: what the data plane has loaded. */
  readonly rootDigest?: string
}

/** Needed are `bootId`, `rootDigest`, `specs`, and a digest of each entry: without them nothing can be said. */
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
      isMap(upstreams) && { upstreams: readUpstreamFailures(upstreams) }),
  }
}

const MAX_TROUBLES = 200

/** It is shown in statuses, so it is nothing but an origin and a cause of the list. */
const readUpstreamFailures = (failures: ValueMap): Readonly<Record<string, UpstreamTrouble>> =>
  Object.fromEntries(
    Object.entries(failures)
      .slice(0, MAX_TROUBLES)
      .flatMap(([id, failure]) => {
        const read = isMap(failure) ? readUpstreamFailure(failure) : undefined
        return read === undefined ? [] : [[id, read] as const]
      }),
  )

const readUpstreamFailure = ({ origin, cause }: ValueMap): UpstreamTrouble | undefined =>
  isOrigin(origin) && isMemberOf(CAUSES, cause) ? { origin, cause } : undefined

const isOrigin = (value: Value | undefined): value is string =>
  typeof value === 'string' && /^https?:\/\/[\w.:[\]-]{1,255}$/.test(value)

const CAUSES = {
  refused: true,
  dns: true,
  tls: true,
  denied: true,
  connect_timeout: true,
  timeout: true,
  reset: true,
  malformed: true,
  status_502: true,
  status_503: true,
  status_504: true,
} satisfies Record<UpstreamCause, true>

/** Compared and kept, shown at most to those who run the operator. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_NAME_LENGTH

const MAX_NAME_LENGTH = 256

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
  const failingProviders = mapsIn(entry, 'failingProviders', MAX_PROVIDERS).flatMap(readProvider)
  const failingCredentials = mapsIn(entry, 'failingCredentials', MAX_CREDENTIALS).flatMap(
    readCredential,
  )
  return {
    digest,
    managedBy: textOrNull(managedBy),
    sessions: mapsIn(entry, 'sessions', MAX_SESSIONS).map(readSession),
    ...(failingProviders.length > 0 && { failingProviders }),
    ...(failingCredentials.length > 0 && { failingCredentials }),
  }
}

const MAX_PROVIDERS = 16

/** One with a cause that we don't know is left out. */
const readProvider = ({ provider, cause, found }: ValueMap): readonly FailingProvider[] =>
  isName(provider) && isMemberOf(PROVIDER_CAUSES, cause)
    ? [{ provider, cause, ...(isFound(found) && { found }) }]
    : []

/** It stands in statuses: an issuer without userinfo and query, or a status. */
const isFound = (value: Value | undefined): value is string =>
  typeof value === 'string' && /^(?:https?:\/\/[\w.:[\]/~%-]{1,200}|\d{3})$/.test(value)

const PROVIDER_CAUSES = {
  refused: true,
  dns: true,
  tls: true,
  denied: true,
  timeout: true,
  reset: true,
  plain_http: true,
  status: true,
  metadata: true,
  issuer: true,
} satisfies Record<ProviderCause, true>

const MAX_CREDENTIALS = 16

/** One with a cause that we don't know is left out. */
const readCredential = ({ credential, cause, found }: ValueMap): readonly FailingCredential[] =>
  isName(credential) && isMemberOf(CREDENTIAL_CAUSES, cause)
    ? [{ credential, cause, ...(isFoundThere(found) && { found }) }]
    : []

/** It stands in statuses: a status, an error code of OAuth 2.0, or a time. */
const isFoundThere = (value: Value | undefined): value is string =>
  typeof value === 'string' && /^(?:\d{3}|[a-z_]{1,64}|[\dT:Z-]{20})$/.test(value)

const CREDENTIAL_CAUSES = {
  refused: true,
  dns: true,
  tls: true,
  denied: true,
  timeout: true,
  reset: true,
  status: true,
  response: true,
  invalid_client: true,
  oauth_error: true,
  certificate_invalid: true,
  certificate_expired: true,
  certificate_early: true,
  certificate_ends: true,
} satisfies Record<CredentialCause, true>

const MAX_SESSIONS = 64
const MAX_PROBLEMS = 16
const MAX_PATH_LENGTH = 512
const MAX_MESSAGE_LENGTH = 500

const NONE: readonly ValueMap[] = []

const mapsIn = (entry: ValueMap, member: string, most: number): readonly ValueMap[] => {
  const list = entry[member]
  return list !== undefined && isList(list) && list.length > 0
    ? list.filter(isMap).slice(0, most)
    : NONE
}

/** Of all warnings only these are news: the others are known since the document was validated here. */
const shadowsIn = (entry: ValueMap): readonly Warning[] =>
  mapsIn(entry, 'warnings', Infinity)
    .filter(({ code }) => code === 'Shadowed')
    .slice(0, MAX_PROBLEMS)
    .map((warning) => ({ code: 'Shadowed', ...textsOf(warning) }))

/** Of `GET /why/ID`: those that are decisions, as they are. */
export const readDecisions = (body: unknown): readonly ValueMap[] | undefined => {
  if (!isMap(body)) return undefined
  const decisions = mapsIn(body, 'decisions', MAX_DECISIONS)
  return decisions.length === 0 ? undefined : decisions.filter(isDecision)
}

const MAX_DECISIONS = 32

export interface EndedFailure {
  /** Unix time, milliseconds: by the clock of the gateway. */
  readonly endedMs: number
  readonly failure: ValueMap
}

/**
 * Of `GET /why`: those that are decisions, as they are. What says no time that may be is left out, as it has no place
 * among others: of the future it would stand before all of them.
 */
export const readFailures = (
  body: unknown,
  nowMs = SYSTEM_CLOCK.now(),
): readonly EndedFailure[] | undefined => {
  if (!isMap(body) || !isList(body['failures'])) return undefined
  return mapsIn(body, 'failures', MAX_FAILURES).flatMap((failure) => {
    const { ended_ms: endedMs } = failure
    const isPast = isCount(endedMs) && endedMs <= nowMs + MAX_SKEW_MS
    return isPast && isDecision(failure) ? [{ endedMs, failure }] : []
  })
}

/** How far the clock of a gateway may be ahead of ours. */
const MAX_SKEW_MS = 60_000

/** A page, and the rest of its last millisecond. */
const MAX_FAILURES = 500

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

/** What we don't know is wrong in some way. */
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

const isMemberOf = <Member extends string>(
  members: Readonly<Record<Member, true>>,
  value: Value | undefined,
): value is Member => typeof value === 'string' && Object.hasOwn(members, value)

const textOr = (value: Value | undefined, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

const textOrNull = (value: Value | undefined): string | null =>
  typeof value === 'string' ? value : null

const numberOr = (value: Value | undefined, otherwise: number): number =>
  isCount(value) ? value : otherwise

const isCount = (value: Value | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** An item with a result that we don't know is left out, as if nothing had been said of it. */
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
