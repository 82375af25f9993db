// Reads unknown bodies of a data plane's responses as the wire types, or gives undefined. A data plane of another
// version may send more than we know, which is left out, or less, which has a default. What may be shown to a person is
// short and printable, and codes are of closed sets.

import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { type Problem, PROBLEM_CODES, type Warning } from '../../../language/problem.ts'
import { GATEWAY_WARNINGS } from '../../../language/wire/report-bounds.ts'
import {
  CREDENTIAL_CAUSES,
  type FailingCredential,
  type FailingProvider,
  PROVIDER_CAUSES,
  type RealmState,
  SESSION_STATES,
  type SessionState,
  type SpecState,
  type StateStep,
  type StateView,
  type SyncItem,
  type SyncReply,
  UPSTREAM_CAUSES,
  type UpstreamProblem,
} from '../../../language/wire/wire.ts'
import {
  anyOf,
  entriesIn,
  itemsIn,
  listOf,
  mapOf,
  matching,
  notEmpty,
  oneOf,
  optional,
  orElse,
  plain,
  type Read,
  readCount,
  readMap,
  readName,
  readText,
  recordOf,
  textOf,
} from './reader.ts'

/** What a 4xx says. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** For a 409: the epoch that the data plane knows. */
  readonly epoch?: number
}

const MAX_CODE_LENGTH = 64
const MAX_MESSAGE_LENGTH = 500
const MAX_PATH_LENGTH = 512
const MAX_PROBLEMS = 16
const MAX_SESSIONS = 64
const MAX_PROVIDERS = 16
const MAX_CREDENTIALS = 16
const MAX_UPSTREAMS = 200
const MAX_MANAGER_LENGTH = 256
/** `namespace/name`, or empty. */
const MAX_RESOURCE_LENGTH = 253 + 1 + 253

const TEXTS = { path: plain(MAX_PATH_LENGTH), message: plain(MAX_MESSAGE_LENGTH) }

/** Only these warnings are new: the others are known since the document was validated here. */
const readOwnWarnings = orElse(
  itemsIn(
    mapOf<Pick<Warning, 'code' | 'path' | 'message'>>({
      code: oneOf(...GATEWAY_WARNINGS),
      ...TEXTS,
    }),
    MAX_PROBLEMS,
  ),
  [],
)

const readSpecState = mapOf<SpecState>({
  digest: readName,
  managedBy: orElse(readText, null),
  resource: optional(textOf(MAX_RESOURCE_LENGTH)),
  warnings: readOwnWarnings,
})

/** It is what `readSpecState` would make of it, or says more. */
const isWhole = (entry: unknown): boolean => {
  if (!isMap(entry)) return false
  const { digest, managedBy, resource, warnings } = entry
  return (
    readName(digest) !== undefined &&
    (resource === undefined || textOf(MAX_RESOURCE_LENGTH)(resource) !== undefined) &&
    (typeof managedBy === 'string' || managedBy === null) &&
    Array.isArray(warnings) &&
    warnings.length === 0
  )
}

/** Nearly always as they are: of 10,000 documents a copy costs more than reading the JSON did. */
const readWholeSpecs: Read<StateView['specs']> = (specs) =>
  isMap(specs) && Object.keys(specs).every((id) => isWhole(specs[id]))
    ? (specs as unknown as StateView['specs'])
    : undefined

const readRealmState = mapOf<RealmState>({
  digest: readName,
  managedBy: orElse(readText, null),
  sessions: orElse(
    itemsIn(
      mapOf<SessionState>({
        url: orElse(readText, ''),
        state: orElse(oneOf(...SESSION_STATES), 'connecting'),
        reason: optional(readText),
      }),
      MAX_SESSIONS,
    ),
    [],
  ),
  failingProviders: optional(
    notEmpty(
      itemsIn(
        mapOf<FailingProvider>({
          provider: readName,
          cause: oneOf(...PROVIDER_CAUSES),
          // An issuer without userinfo and query, or a status.
          found: optional(matching(/^(?:https?:\/\/[\w.:[\]{}/~%-]{1,200}|\d{3})$/)),
        }),
        MAX_PROVIDERS,
      ),
    ),
  ),
  failingCredentials: optional(
    notEmpty(
      itemsIn(
        mapOf<FailingCredential>({
          credential: readName,
          cause: oneOf(...CREDENTIAL_CAUSES),
          // A status, an error code of OAuth 2.0, or a time.
          found: optional(matching(/^(?:\d{3}|[a-z_]{1,64}|[\dT:Z-]{20})$/)),
        }),
        MAX_CREDENTIALS,
      ),
    ),
  ),
})

const readUpstream = mapOf<UpstreamProblem>({
  origin: matching(/^https?:\/\/[\w.:[\]-]{1,255}$/),
  cause: oneOf(...UPSTREAM_CAUSES),
})

/** `bootId`, `rootDigest`, `specs` and a digest of each entry are required: without one of them it gives undefined. */
export const readStateView = mapOf<StateView>({
  bootId: readName,
  version: orElse(readCount, 0),
  gatewayVersion: optional(matching(/^\d{1,6}(\.\d{1,6}){2}[\w.+-]{0,40}$/)),
  manager: (value) => readText(value)?.slice(0, MAX_MANAGER_LENGTH) ?? null,
  epoch: orElse(readCount, 0),
  rootDigest: readName,
  complete: (value) => value === true,
  specs: anyOf(readWholeSpecs, recordOf(readSpecState)),
  realms: (value) => recordOf(readRealmState)(value ?? {}),
  upstreams: optional(entriesIn(readUpstream, MAX_UPSTREAMS)),
})

const readProblem = mapOf<Pick<Problem, 'code' | 'path' | 'message'>>({
  // A code that this version does not know stands for some problem.
  code: orElse(oneOf(...PROBLEM_CODES), 'invalid_value'),
  ...TEXTS,
})

const readItem = mapOf<SyncItem>({
  id: readText,
  kind: oneOf('spec', 'realm'),
  result: oneOf('loaded', 'unchanged', 'rejected', 'deleted'),
  errors: orElse(itemsIn(readProblem, MAX_PROBLEMS), []),
  warnings: readOwnWarnings,
})

/** Leaves out items with a result that this version does not know. */
export const readSyncReply = mapOf<SyncReply>({
  rootDigest: readName,
  items: itemsIn(readItem, Infinity),
  state: optional(mapOf<StateStep>({ before: readName, after: readName })),
})

/** One realm as `GET /realms?view=source` describes it. */
export interface RealmSource {
  readonly uri: string
  /** A `RealmRecord`, as far as it may be read. */
  readonly realm: ValueMap
  /** JSON pointers to what was left out of it. */
  readonly secrets: readonly string[]
}

const readRealmSource = mapOf<Omit<RealmSource, 'uri'>>({
  realm: readMap,
  secrets: itemsIn(readText, Infinity),
})

export const readRealmSources: Read<readonly RealmSource[]> = listOf((entry) => {
  const source = readRealmSource(entry)
  const uri = readText(source?.realm['uri'])
  return source === undefined || uri === undefined ? undefined : { uri, ...source }
})

const readRefusalMap = mapOf<Refusal>({
  code: plain(MAX_CODE_LENGTH),
  message: plain(MAX_MESSAGE_LENGTH),
  epoch: optional(readCount),
})

export const readRefusal = (body: unknown): Refusal =>
  readRefusalMap(body) ?? { code: '', message: '' }
