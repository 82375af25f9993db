// Reads the body of a sync call, and validates its shape and bounds, but not its entries, which may still have to be
// parsed.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import type { Value } from '../../language/expression/value.ts'
import { isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'

/** Parsed when it is called; throws what parsing throws. */
export type Lazy = () => unknown

export interface SyncCall {
  readonly managedBy: string
  readonly epoch: number
  readonly base: string
  readonly realms: EntryChanges
  readonly specs: EntryChanges
  readonly complete?: string
}

interface EntryChanges {
  readonly put: readonly Lazy[]
  readonly delete: readonly string[]
}

export type ReadSyncCall =
  | { readonly ok: true; readonly call: SyncCall }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * `lazy` turns a put entry of `body` into the function that returns its value.
 * @example readSyncCall({ managedBy: 'op', epoch: 1, base: '…' }, (entry) => () => entry)
 */
export const readSyncCall = (body: unknown, lazy: (entry: unknown) => Lazy): ReadSyncCall => {
  if (!isMap(body)) return fail([datatype('', 'a sync call is a JSON object')])
  const problems: Problem[] = []
  const call = {
    managedBy: text(body, 'managedBy', problems),
    epoch: integer(body, 'epoch', problems),
    base: text(body, 'base', problems),
    realms: changes(body, 'realms', { lazy, problems }),
    specs: changes(body, 'specs', { lazy, problems }),
  }
  const complete =
    ownValue(body, 'complete') === undefined ? undefined : text(body, 'complete', problems)
  if (problems.length > 0) return fail(problems)
  return { ok: true, call: complete === undefined ? call : { ...call, complete } }
}

interface Reading {
  readonly lazy: (entry: unknown) => Lazy
  readonly problems: Problem[]
}

const changes = (
  body: Readonly<Record<string, Value>>,
  key: 'realms' | 'specs',
  { lazy, problems }: Reading,
): EntryChanges => {
  const group = ownValue(body, key)
  const pointer = `/${key}`
  if (group === undefined) return { put: [], delete: [] }
  if (!isMap(group)) {
    problems.push(datatype(pointer, 'expected an object'))
    return { put: [], delete: [] }
  }
  const put = list(group, 'put', { pointer, problems })
  const remove = list(group, 'delete', { pointer, problems })
  remove.forEach((item, index) => {
    if (typeof item !== 'string')
      problems.push(datatype(childPointer(`${pointer}/delete`, index), 'expected a string'))
  })
  return { put: put.map(lazy), delete: remove.filter((item) => typeof item === 'string') }
}

const list = (
  map: Readonly<Record<string, Value>>,
  key: string,
  { pointer, problems }: { readonly pointer: string; readonly problems: Problem[] },
): readonly unknown[] => {
  const value = ownValue(map, key)
  if (value === undefined) return []
  if (Array.isArray(value)) return value as readonly unknown[]
  problems.push(datatype(childPointer(pointer, key), 'expected a list'))
  return []
}

const MAX_TEXT = 253

const text = (map: Readonly<Record<string, Value>>, key: string, problems: Problem[]): string => {
  const value = ownValue(map, key)
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT) return value
  problems.push(
    value === undefined
      ? { code: 'missing_required_value', path: `/${key}`, message: `'${key}' is required` }
      : datatype(`/${key}`, `expected a text of 1 to ${MAX_TEXT} characters`),
  )
  return ''
}

const integer = (
  map: Readonly<Record<string, Value>>,
  key: string,
  problems: Problem[],
): number => {
  const value = ownValue(map, key)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  problems.push(
    value === undefined
      ? { code: 'missing_required_value', path: `/${key}`, message: `'${key}' is required` }
      : datatype(`/${key}`, 'expected an integer, 0 or more'),
  )
  return 0
}

const datatype = (path: string, message: string): Problem => ({
  code: 'invalid_datatype',
  path,
  message,
})

const fail = (problems: readonly Problem[]): ReadSyncCall => ({ ok: false, problems })
