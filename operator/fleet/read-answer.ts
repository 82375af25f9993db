// Bodies of a data plane's answers, unknown, in; what the wire types promise, or undefined, out. A data
// plane of another version may say more than we know, which is left out, or less, which has a default.

import { isList, isMap, type Value, type ValueMap } from '../../spec/expression/value.ts'
import type { Problem, Warning } from '../../spec/problem.ts'
import type {
  RealmState,
  SessionState,
  SpecState,
  StateView,
  SyncItem,
  SyncReply,
} from '../../spec/wire.ts'

/** What a 4xx says. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** Of a 409: the epoch that the data plane knows. */
  readonly epoch?: number
  /** Of a 409 of `complete`: what the data plane holds. */
  readonly rootDigest?: string
}

/** Needed are `bootId`, `rootDigest`, `specs`, and a digest of each entry: without them nothing can be said. */
export const readStateView = (body: unknown): StateView | undefined => {
  if (!isMap(body)) return undefined
  const { bootId, rootDigest, manager, gatewayVersion } = body
  if (typeof bootId !== 'string' || typeof rootDigest !== 'string') return undefined
  const specs = readEntries(body['specs'], { read: readSpecState, isWhole: isWholeSpec })
  const realms = readEntries(body['realms'] ?? {}, { read: readRealmState })
  if (specs === undefined || realms === undefined) return undefined
  return {
    ...{ bootId, rootDigest, specs, realms },
    version: numberOr(body['version'], 0),
    epoch: numberOr(body['epoch'], 0),
    manager: textOrNull(manager),
    complete: body['complete'] === true,
    ...(typeof gatewayVersion === 'string' && { gatewayVersion: gatewayVersion.slice(0, 64) }),
  }
}

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
  const { digest, managedBy, warnings } = entry
  return (
    typeof digest === 'string' &&
    (typeof managedBy === 'string' || managedBy === null) &&
    Array.isArray(warnings) &&
    warnings.length === 0
  )
}

const readSpecState = (entry: Value): SpecState | undefined => {
  if (!isMap(entry) || typeof entry['digest'] !== 'string') return undefined
  return {
    ...{ digest: entry['digest'], managedBy: textOrNull(entry['managedBy']) },
    warnings: mapsIn(entry, 'warnings').map(readFinding) as unknown as Warning[],
  }
}

const readRealmState = (entry: Value): RealmState | undefined => {
  if (!isMap(entry) || typeof entry['digest'] !== 'string') return undefined
  return {
    ...{ digest: entry['digest'], managedBy: textOrNull(entry['managedBy']) },
    sessions: mapsIn(entry, 'sessions').map(readSession) as unknown as SessionState[],
  }
}

const NONE: readonly ValueMap[] = []

const mapsIn = (entry: ValueMap, member: string): readonly ValueMap[] => {
  const list = entry[member]
  return list !== undefined && isList(list) && list.length > 0 ? list.filter(isMap) : NONE
}

/** Of an error or a warning. Its code is shown as it is, also one that we don't know. */
const readFinding = ({ code, path, message }: ValueMap): Readonly<Record<string, string>> => ({
  code: textOr(code, ''),
  path: textOr(path, ''),
  message: textOr(message, ''),
})

const readSession = ({ url, state, reason }: ValueMap): Readonly<Record<string, string>> => ({
  url: textOr(url, ''),
  state: textOr(state, 'connecting'),
  ...(typeof reason === 'string' && { reason }),
})

const textOr = (value: Value | undefined, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

const textOrNull = (value: Value | undefined): string | null =>
  typeof value === 'string' ? value : null

const numberOr = (value: Value | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise

/** An item with a result that we don't know is left out, as if nothing had been said of it. */
export const readSyncReply = (body: unknown): SyncReply | undefined => {
  if (!isMap(body)) return undefined
  const { rootDigest, items } = body
  if (typeof rootDigest !== 'string' || items === undefined || !isList(items)) return undefined
  return { rootDigest, items: items.flatMap((item) => readItem(item) ?? []) }
}

const RESULTS = {
  loaded: true,
  unchanged: true,
  rejected: true,
  deleted: true,
} satisfies Record<SyncItem['result'], true>

const isResult = (result: Value | undefined): result is SyncItem['result'] =>
  typeof result === 'string' && Object.hasOwn(RESULTS, result)

const readItem = (item: Value): SyncItem | undefined => {
  if (!isMap(item)) return undefined
  const { id, kind, result } = item
  if (typeof id !== 'string' || (kind !== 'spec' && kind !== 'realm')) return undefined
  if (!isResult(result)) return undefined
  return {
    ...{ id, kind, result },
    errors: mapsIn(item, 'errors').map(readFinding) as unknown as Problem[],
    warnings: mapsIn(item, 'warnings').map(readFinding) as unknown as Warning[],
  }
}

/** One realm as `GET /realms?view=source` tells of it. */
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
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message.slice(0, 500) : '',
    ...(typeof epoch === 'number' && { epoch }),
    ...(typeof rootDigest === 'string' && { rootDigest }),
  }
}
