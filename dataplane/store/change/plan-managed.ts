// Plans one entry of a sync call on a draft. A managed document is never rejected for a conflict, nor for its realm:
// the operator has decided (architecture, *Management API*).

import { ownValue } from '../../../language/expression/lookup.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { isMap } from '../../../language/expression/value.ts'
import type { Problem } from '../../../language/problem.ts'
import { compact } from '../packed/compact.ts'
import { type NewerEntry, readNewerEntry } from './critical-members.ts'
import { validateNewerRealmRecord } from './validate-realm.ts'
import type { SyncItem } from '../../../language/wire/wire.ts'
import { lenientFactsOf } from '../../realm/realm-facts.ts'
import type { Draft } from './draft.ts'
import type { ValidateDocument } from './validate-document.ts'
import { type LoadedDocument, rankOf } from '../loaded-content.ts'
import { rejectedItem } from './rejected-item.ts'

export interface ManagedContext {
  readonly validate: ValidateDocument
  readonly manager: string
  /** Unix time, milliseconds. */
  readonly nowMs: number
  /** Realms that are removed at the end of this call: documents are validated against the result. */
  readonly leaving: ReadonlySet<string>
}

export const putManagedSpec = async (
  draft: Draft,
  entry: unknown,
  context: ManagedContext,
): Promise<SyncItem> => {
  const put = readSpecPut(entry)
  if ('errors' in put) return rejectedItem('spec', put.id, put.errors)
  const before = draft.document(put.id)
  if (before?.managedBy === context.manager && isSame(before, put))
    return { id: put.id, kind: 'spec', result: 'unchanged', errors: [], warnings: before.warnings }
  const validation = await context.validate(put.spec, {
    // A version that was served stays in service when its realm is deleted or changed (behaviour §7): a gateway that
    // has just started must accept it as well, or it would lack what the others serve.
    realm: (uri) => lenientFactsOf(context.leaving.has(uri) ? undefined : draft.realm(uri)?.record),
    ...(put.variables && { variables: put.variables }),
  })
  if (!validation.ok) return rejectedItem('spec', put.id, validation.problems)
  if (validation.id !== put.id) return rejectedItem('spec', put.id, [misplaced('id', put.id)])
  const { claims, forwards, warnings } = validation
  draft.putDocument(
    {
      id: put.id,
      digest: put.digest,
      since: put.since,
      managedBy: context.manager,
      rank: rankOf(context.manager),
      ts: context.nowMs,
      warnings,
      source: compact(validation.source()),
      ...(put.variables && { variables: put.variables }),
      ...restrictionsOf(put),
      ...(put.resource !== undefined && { resource: put.resource }),
      ...newerMarks(put),
      claims,
      forwards,
    },
    validation.pack({
      since: put.since,
      rank: rankOf(context.manager),
      resource: put.resource,
      ...restrictionsOf(put),
    }),
  )
  return { id: put.id, kind: 'spec', result: 'loaded', errors: [], warnings }
}

const isSame = (before: LoadedDocument, put: FitSpecPut): boolean =>
  before.digest === put.digest &&
  before.since === put.since &&
  before.resource === put.resource &&
  before.confinedTo === put.confinedTo &&
  String(before.credentials) === String(put.credentials)

type Restrictions = Pick<FitSpecPut, 'confinedTo' | 'credentials'>

const restrictionsOf = ({ confinedTo, credentials }: Restrictions): Restrictions => ({
  ...(confinedTo !== undefined && { confinedTo }),
  ...(credentials !== undefined && { credentials }),
})

const misplaced = (name: 'id' | 'uri', key: string): Problem => ({
  code: 'invalid_value',
  path: `/${name}`,
  message: `expected '${key}', the ${name} it is put under`,
})

export const putManagedRealm = (
  draft: Draft,
  entry: unknown,
  { manager }: { readonly manager: string },
): SyncItem => {
  const put = readRealmPut(entry)
  if ('errors' in put) return rejectedItem('realm', put.id, put.errors)
  const before = draft.realm(put.uri)
  const result = { id: put.uri, kind: 'realm', errors: [], warnings: [] } as const
  if (before?.managedBy === manager && before.digest === put.digest)
    return { ...result, result: 'unchanged' }
  const validated = validateNewerRealmRecord(put.realm)
  if (!validated.ok) return rejectedItem('realm', put.uri, validated.problems)
  if (validated.realm.uri !== put.uri)
    return rejectedItem('realm', put.uri, [misplaced('uri', put.uri)])
  draft.putRealm({
    uri: put.uri,
    digest: put.digest,
    managedBy: manager,
    record: validated.realm,
    ...newerMarks(put),
  })
  return { ...result, result: 'loaded' }
}

/** A manager deletes only what it has put itself; what is not there counts as deleted. */
export const deleteManaged = (
  draft: Draft,
  kind: SyncItem['kind'],
  id: string,
  { manager }: { readonly manager: string },
): SyncItem => {
  const before = kind === 'spec' ? draft.document(id) : draft.realm(id)
  const result = { id, kind, errors: [], warnings: [] } as const
  if (before === undefined) return { ...result, result: 'deleted' }
  if (before.managedBy !== manager) return { ...result, result: 'unchanged' }
  if (kind === 'spec') draft.removeDocument(id)
  else draft.removeRealm(id)
  return { ...result, result: 'deleted' }
}

interface Unfit {
  readonly id: string
  readonly errors: readonly Problem[]
}

interface FitSpecPut extends NewerEntry {
  readonly id: string
  readonly digest: string
  readonly since: number
  readonly resource?: string
  readonly spec: unknown
  readonly variables?: ValueMap
  readonly confinedTo?: string
  readonly credentials?: readonly string[]
}

const readSpecPut = (entry: unknown): FitSpecPut | Unfit => {
  const { id, digest, errors } = readKeyed(entry, 'id')
  const since = ownValue(entry, 'since')
  const spec = ownValue(entry, 'spec')
  const variables = ownValue(entry, 'variables')
  if (spec === undefined) errors.push(missing('/spec'))
  if (typeof since !== 'number' || !Number.isSafeInteger(since))
    errors.push(unfit('/since', 'expected a Unix time in milliseconds'))
  if (variables !== undefined && !isMap(variables))
    errors.push(unfit('/variables', 'expected a map'))
  const resource = ownValue(entry, 'resource')
  if (resource !== undefined && !isResource(resource))
    errors.push(unfit('/resource', 'expected the namespace and name of a resource'))
  const restrictions = readRestrictions(entry, errors)
  const newer = readNewerEntry('spec', entry)
  if (errors.length > 0 || 'problems' in newer) return unfitFor(id, errors, newer)
  return {
    ...newer,
    id,
    digest,
    since: Number(since),
    spec,
    ...(isResource(resource) && { resource }),
    ...(isMap(variables) && { variables }),
    ...restrictions,
  }
}

const readRestrictions = (entry: unknown, errors: Problem[]): Restrictions => {
  const confinedTo = ownValue(entry, 'confinedTo')
  const credentials = ownValue(entry, 'credentials')
  if (confinedTo !== undefined && !isNamespace(confinedTo))
    errors.push(unfit('/confinedTo', 'expected the name of a namespace'))
  if (credentials !== undefined && !isNames(credentials))
    errors.push(unfit('/credentials', 'expected a list of names'))
  return {
    ...(isNamespace(confinedTo) && { confinedTo }),
    ...(isNames(credentials) && { credentials }),
  }
}

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const isNamespace = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(value)

/** `namespace/name` */
const isResource = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9.-]{1,253}\/[a-z0-9.-]{1,253}$/.test(value)

interface FitRealmPut extends NewerEntry {
  readonly uri: string
  readonly digest: string
  readonly realm: unknown
}

const readRealmPut = (entry: unknown): FitRealmPut | Unfit => {
  const { id, digest, errors } = readKeyed(entry, 'uri')
  const realm = ownValue(entry, 'realm')
  if (realm === undefined) errors.push(missing('/realm'))
  const newer = readNewerEntry('realm', entry)
  if (errors.length > 0 || 'problems' in newer) return unfitFor(id, errors, newer)
  return { ...newer, uri: id, digest, realm }
}

const unfitFor = (
  id: string,
  errors: readonly Problem[],
  newer: ReturnType<typeof readNewerEntry>,
): Unfit => ({ id, errors: [...errors, ...('problems' in newer ? newer.problems : [])] })

const newerMarks = ({ critical, isPartial }: NewerEntry): Partial<NewerEntry> => ({
  ...(critical.length > 0 && { critical }),
  ...(isPartial && { isPartial }),
})

/** Printable ASCII without spaces, as digests are used in lines of the root digest. */
const DIGEST = /^[\x21-\x7e]{1,256}$/

const readKeyed = (
  entry: unknown,
  key: 'id' | 'uri',
): { readonly id: string; readonly digest: string; readonly errors: Problem[] } => {
  const errors: Problem[] = []
  const id = ownValue(entry, key)
  const digest = ownValue(entry, 'digest')
  if (typeof id !== 'string' || id === '') errors.push(unfit(`/${key}`, 'expected a text'))
  if (typeof digest !== 'string' || !DIGEST.test(digest))
    errors.push(unfit('/digest', 'expected up to 256 printable characters without spaces'))
  return {
    id: typeof id === 'string' ? id.slice(0, 512) : '',
    digest: typeof digest === 'string' ? digest : '',
    errors,
  }
}

const missing = (path: string): Problem => ({
  code: 'missing_required_value',
  path,
  message: `'${path.slice(1)}' is required`,
})

const unfit = (path: string, message: string): Problem => ({
  code: 'invalid_datatype',
  path,
  message,
})
