// What a snapshot kept and an empty draft in; the draft filled, and what could not come back out. A
// document that was accepted once is not refused for what has become of its realm since.

import { isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { validateNewerRealm, validateRealm } from '../../language/realm/validate.ts'
import { lenientFactsOf } from '../realm/realm-facts.ts'
import { notUnderstoodIn, readNewerEntry } from './critical-members.ts'
import type { Draft } from './draft.ts'
import { rankOf } from './holdings.ts'
import type { Judge } from './judge.ts'
import type { SnapshotContents } from './snapshot.ts'
import type { StoredDocument, StoredEntry, StoredRealm } from './snapshot-record.ts'

export interface RestoreContext {
  readonly judge: Judge
  /** Whose entries come back as managed; null: nobody's. */
  readonly manager: string | null
  /** Whether entries of nobody, or of a former manager, come back as loaded by hand. */
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
    ...{ uri, digest, managedBy: owner, record: validated.realm },
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
  const document: unknown = JSON.parse(stored.source.toString())
  const { variables } = stored
  const judgement = await context.judge(document, {
    realm: (uri) => lenientFactsOf(draft.realm(uri)?.record),
    ...(isMap(variables) && { variables }),
  })
  if (!judgement.ok) return invalid(judgement.problems)
  const missed = notUnderstoodIn(stored.critical ?? [], judgement.warnings)
  if (missed.length > 0) return invalid(missed)
  draft.putDocument(
    { ...stored, managedBy: owner, claims: judgement.claims, forwards: judgement.forwards },
    judgement.pack({
      since: stored.since,
      rank: rankOf(owner),
      confinedTo: stored.confinedTo,
    }),
  )
  return undefined
}

const invalid = ([first]: readonly Problem[]): string =>
  `it is no longer valid: ${first?.message ?? ''}`

const NOT_OURS = 'it belongs to another manager, or to none, and this gateway takes only its own'

/**
 * Entries of a former manager serve on as if loaded by hand, where that is allowed: the manager of today
 * adopts those it has. undefined: not wanted.
 */
const ownerOf = (
  managedBy: string | null,
  { manager, allowUnmanaged }: RestoreContext,
): string | null | undefined => {
  if (managedBy !== null && managedBy === manager) return manager
  return allowUnmanaged || manager === null ? null : undefined
}
