// Restores a snapshot into an empty draft, and lists the entries that could not be restored. A document that was
// accepted once is not rejected for changes of its realm since.

import { isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { validateNewerRealm, validateRealm } from '../../language/realm/validate.ts'
import { lenientFactsOf } from '../realm/realm-facts.ts'
import { compact, expand } from './compact-text.ts'
import { notUnderstoodIn, readNewerEntry } from './critical-members.ts'
import type { Draft } from './draft.ts'
import { rankOf } from './loaded-content.ts'
import type { ValidateDocument } from './validate-document.ts'
import type { SnapshotContents } from './snapshot.ts'
import type { StoredDocument, StoredEntry, StoredRealm } from './snapshot-record.ts'

export interface RestoreContext {
  readonly validate: ValidateDocument
  /** The manager whose entries are restored as managed; null: none. */
  readonly manager: string | null
  /** Whether entries without a manager, or of a former one, are restored as loaded by hand. */
  readonly allowUnmanaged: boolean
  readonly pause: () => Promise<void>
}

export interface LeftOut {
  readonly kind: StoredEntry['kind']
  readonly key: string
  readonly reason: string
}

/** Realms first, documents oldest first. */
export const planRestore = async (
  draft: Draft,
  contents: SnapshotContents,
  context: RestoreContext,
): Promise<readonly LeftOut[]> => {
  const leftOut: LeftOut[] = []
  const documents: StoredDocument[] = []
  for (const entry of contents.entries)
    if (entry.kind === 'spec') documents.push(entry.document)
    else {
      const reason = restoreRealm(draft, entry.realm, context)
      if (reason !== undefined) leftOut.push({ kind: 'realm', key: entry.realm.uri, reason })
    }
  for (const document of documents.toSorted((a, b) => a.since - b.since)) {
    const reason = await restoreDocument(draft, document, context)
    if (reason !== undefined) leftOut.push({ kind: 'spec', key: document.id, reason })
    await context.pause()
  }
  return leftOut
}

const restoreRealm = (
  draft: Draft,
  { uri, digest, managedBy, record, critical = [] }: StoredRealm,
  context: RestoreContext,
): string | undefined => {
  const owner = ownerOf(managedBy, context)
  if (owner === undefined) return NOT_OURS
  const newer = readNewerEntry('realm', { realm: record, critical })
  if ('problems' in newer) return invalid(newer.problems)
  const validated = managedBy === null ? validateRealm(record) : validateNewerRealm(record)
  if (!validated.ok) return invalid(validated.problems)
  draft.putRealm({
    uri,
    digest,
    managedBy: owner,
    record: validated.realm,
    ...(critical.length > 0 && { critical }),
  })
  return undefined
}

const restoreDocument = async (
  draft: Draft,
  stored: StoredDocument,
  context: RestoreContext,
): Promise<string | undefined> => {
  const owner = ownerOf(stored.managedBy, context)
  if (owner === undefined) return NOT_OURS
  const newer = readNewerEntry('spec', stored)
  if ('problems' in newer) return invalid(newer.problems)
  const source = expand(stored.source).toString()
  const document: unknown = JSON.parse(source)
  const { variables } = stored
  const validation = await context.validate(document, {
    realm: (uri) => lenientFactsOf(draft.realm(uri)?.record),
    ...(isMap(variables) && { variables }),
  })
  if (!validation.ok) return invalid(validation.problems)
  const missed = notUnderstoodIn(stored.critical ?? [], validation.warnings)
  if (missed.length > 0) return invalid(missed)
  draft.putDocument(
    {
      ...stored,
      source: compact(source),
      managedBy: owner,
      claims: validation.claims,
      forwards: validation.forwards,
    },
    validation.pack({
      since: stored.since,
      rank: rankOf(owner),
      resource: stored.resource,
      confinedTo: stored.confinedTo,
      credentials: stored.credentials,
    }),
  )
  return undefined
}

const invalid = ([first]: readonly Problem[]): string =>
  `it is no longer valid: ${first?.message ?? ''}`

const NOT_OURS =
  'it belongs to another manager, or to none, and this gateway accepts only entries of its own'

/**
 * Entries of a former manager are still served, as if loaded by hand, if that is allowed: the current manager adopts
 * those that it has. undefined: the entry is not restored.
 */
const ownerOf = (
  managedBy: string | null,
  { manager, allowUnmanaged }: RestoreContext,
): string | null | undefined => {
  if (managedBy !== null && managedBy === manager) return manager
  return allowUnmanaged || manager === null ? null : undefined
}
