// Restores the entries of a snapshot at the start, and sets aside those that can't be restored. A document that was
// accepted once is not rejected because its realm has changed since.

import { parseJson } from '../../../base/parse-json.ts'
import { isMap } from '../../../language/expression/value.ts'
import type { Problem } from '../../../language/problem.ts'
import { validateNewerRealm } from '../../../language/validate-realm.ts'
import { lenientFactsOf } from '../../realm/realm-facts.ts'
import { compact, expand } from '../packed/compact.ts'
import { readNewerEntry } from './critical-members.ts'
import type { Draft } from './draft.ts'
import { rankOf } from '../loaded-content.ts'
import type { ValidateDocument } from './validate-document.ts'
import type { Snapshot, SnapshotContents } from '../snapshot/snapshot.ts'
import type { StoredDocument, StoredEntry, StoredRealm } from '../snapshot/snapshot-record.ts'

export interface RestoreContext {
  readonly validate: ValidateDocument
  /** The manager whose entries are restored as managed; null: none. */
  readonly manager: string | null
  /** Whether entries without a manager, or of a former one, are restored as loaded by hand. */
  readonly allowUnmanaged: boolean
  readonly pause: () => Promise<void>
}

/** What the store must know about a snapshot, besides its entries. */
export interface Restored {
  /** The latest epoch of the manager; 0: the snapshot is of another manager, or of none. */
  readonly epoch: number
  /** The manager had sent everything that it has. */
  readonly wasComplete: boolean
  /** Every entry was restored. */
  readonly isWhole: boolean
  /** What is on disk differs from what was restored. */
  readonly needsWriting: boolean
}

/** Carries out a plan and serves the result. */
type Change = <T>(plan: (draft: Draft) => Promise<T>) => Promise<{ readonly result: T }>

/** @param change starts with an empty draft */
export const restoreSnapshot = async (
  snapshot: Pick<Snapshot, 'load' | 'setAside'>,
  context: RestoreContext,
  change: Change,
): Promise<Restored> => {
  const contents = await snapshot.load()
  const { result: leftOut } = await change((draft) => planRestore(draft, contents, context))
  for (const { kind, key, reason } of leftOut) await snapshot.setAside(kind, key, reason)
  const { manager } = context
  const isSameManager = manager !== null && contents.manager === manager
  const isWhole = leftOut.length === 0
  return {
    epoch: isSameManager ? contents.epoch : 0,
    wasComplete: isSameManager && contents.complete,
    isWhole,
    needsWriting: !isWhole || !contents.isIntact,
  }
}

interface LeftOut {
  readonly kind: StoredEntry['kind']
  readonly key: string
  readonly reason: string
}

/** Realms first, documents oldest first. */
const planRestore = async (
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
  // Another version has accepted it, which may know other members.
  const validated = validateNewerRealm(record)
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
  const document = parseJson(source)
  const { variables } = stored
  const validation = await context.validate(document, {
    realm: (uri) => lenientFactsOf(draft.realm(uri)?.record),
    ...(isMap(variables) && { variables }),
  })
  if (!validation.ok) return invalid(validation.problems)
  draft.putDocument(
    {
      ...stored,
      source: compact(source),
      managedBy: owner,
      rank: rankOf(owner),
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
