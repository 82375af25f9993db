// Bodies of a data plane's answers, unknown, in; what the wire types promise, or undefined, out. A data
// plane of another version may say more than we know, never less.

import { isList, isMap, type Value, type ValueMap } from '../../spec/expression/value.ts'
import type { StateView, SyncItem, SyncReply } from '../../spec/wire.ts'

/** What a 4xx says. */
export interface Refusal {
  readonly code: string
  readonly message: string
  /** Of a 409: the epoch that the data plane knows. */
  readonly epoch?: number
  /** Of a 409 of `complete`: what the data plane holds. */
  readonly rootDigest?: string
}

export const readStateView = (body: unknown): StateView | undefined => {
  if (!isMap(body)) return undefined
  const { specs, realms } = body
  if (!Object.entries(MEMBERS).every(([name, fits]) => fits(body[name] ?? null))) return undefined
  if (!isMap(specs) || !Object.values(specs).every(isEntry)) return undefined
  if (!isMap(realms) || !Object.values(realms).every(isEntry)) return undefined
  // Every member has been looked at.
  return body as unknown as StateView
}

const isText = (value: Value): boolean => typeof value === 'string'
const isNumber = (value: Value): boolean => typeof value === 'number'

const MEMBERS = {
  bootId: isText,
  version: isNumber,
  manager: (value) => value === null || isText(value),
  epoch: isNumber,
  rootDigest: isText,
  complete: (value) => typeof value === 'boolean',
  specs: isMap,
  realms: isMap,
} satisfies Record<keyof StateView, (value: Value) => boolean>

export const readSyncReply = (body: unknown): SyncReply | undefined => {
  if (!isMap(body)) return undefined
  const { rootDigest, items } = body
  if (typeof rootDigest !== 'string' || !isList(items) || !items.every(isItem)) return undefined
  return { rootDigest, items: items as unknown as readonly SyncItem[] }
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

const isEntry = (entry: Value): boolean =>
  isMap(entry) &&
  typeof entry['digest'] === 'string' &&
  (entry['managedBy'] === null || typeof entry['managedBy'] === 'string')

const RESULTS: readonly Value[] = ['loaded', 'unchanged', 'rejected', 'deleted']

const isItem = (item: Value): boolean =>
  isMap(item) &&
  typeof item['id'] === 'string' &&
  (item['kind'] === 'spec' || item['kind'] === 'realm') &&
  RESULTS.includes(item['result'] ?? null) &&
  isList(item['errors'])
