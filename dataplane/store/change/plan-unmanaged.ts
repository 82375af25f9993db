// Plans one change by hand (a document, a realm, a delete) on a draft. A document loaded by hand loses every
// conflict: it is rejected, with the name of the winner (behaviour §2).

import { hash } from 'node:crypto'
import { callerGroupsOf, warnOfRequirements } from '../../../language/caller-requirements.ts'
import { writtenPlaces } from '../../../language/compile/written-place.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { conflictProblem } from '../../../language/compile/conflicts.ts'
import { digestOf } from '../../../language/wire/digest.ts'
import { criticalMembers } from '../../../language/wire/members.ts'
import type { Warning } from '../../../language/problem.ts'
import { validateRealmRecord } from './validate-realm.ts'
import type { SyncItem } from '../../../language/wire/wire.ts'
import { factsOf } from '../../../language/realm/facts.ts'
import { compact } from '../packed/compact.ts'
import type { Draft } from './draft.ts'
import { type LoadedDocument, rankOf } from '../loaded-content.ts'
import type { ValidateDocument, DocumentValidation } from './validate-document.ts'
import { warnOfRealm } from '../../../language/realm/warnings.ts'
import { rejectedItem } from './rejected-item.ts'

/** `notOwner`: the entry belongs to the manager, which alone may change it. */
export interface UnmanagedResult {
  readonly item: SyncItem
  readonly notOwner?: string
}

export interface UnmanagedContext {
  readonly validate: ValidateDocument
  /** Unix time, milliseconds. */
  readonly nowMs: number
  /** The age of a new document: later than any before it, so that load order decides conflicts. */
  readonly nextSince: () => number
}

export const loadUnmanaged = async (
  draft: Draft,
  document: unknown,
  context: UnmanagedContext,
): Promise<UnmanagedResult> => {
  const validation = await context.validate(document, {
    realm: (uri) => {
      const realm = draft.realm(uri)
      return realm && factsOf(realm.record)
    },
  })
  const { id } = validation
  const before = draft.document(id)
  if (before !== undefined && before.managedBy !== null)
    return ownedBy('spec', id, before.managedBy)
  if (!validation.ok)
    return { item: rejectedItem('spec', id, validation.problems, validation.warnings) }
  const since = before?.since ?? context.nextSince()
  const warnings = warningsOf(draft, document, validation)
  const critical = criticalMembers('spec', { spec: document })
  const candidate: LoadedDocument = {
    ...toUnmanagedDocument({ ...validation, warnings }, since, context.nowMs),
    // No sender named them, and an older version must not take it from a snapshot without them.
    ...(critical.length > 0 && { critical }),
  }
  const conflicts = draft.conflictsOf(candidate)
  if (conflicts.length > 0) {
    const problems = conflicts.map(({ claim, winnerId }) => conflictProblem(claim, winnerId))
    return { item: rejectedItem('spec', id, problems) }
  }
  draft.putDocument(candidate, validation.pack({ since, rank: candidate.rank }))
  return { item: done('spec', id, 'loaded', warnings) }
}

/** With what the document requires of callers and no user of its realm meets. */
const warningsOf = (
  draft: Draft,
  document: unknown,
  { requirements, forwards, warnings }: DocumentValidation & { readonly ok: true },
): readonly Warning[] => {
  const record = draft.realm(forwards.realmUri)?.record
  if (requirements.length === 0 || record === undefined) return warnings
  const callers = {
    groups: callerGroupsOf(record),
    hasIssuers: (record.trusted_issuers ?? []).length > 0,
  }
  // A document that compiles is a map.
  const findPlace = writtenPlaces(document as ValueMap)
  return [
    ...warnings,
    ...warnOfRequirements(requirements, callers, { findPlace, hasSecrets: false }),
  ]
}

/** Deleting an unknown id succeeds (behaviour §2). */
export const deleteUnmanaged = (draft: Draft, id: string): UnmanagedResult => {
  const before = draft.document(id)
  if (before === undefined) return { item: done('spec', id, 'deleted') }
  if (before.managedBy !== null) return ownedBy('spec', id, before.managedBy)
  draft.removeDocument(id)
  return { item: done('spec', id, 'deleted') }
}

export const putUnmanagedRealm = (draft: Draft, record: unknown): UnmanagedResult => {
  const validated = validateRealmRecord(record)
  if (!validated.ok) return { item: rejectedItem('realm', '', validated.problems) }
  const { realm } = validated
  const before = draft.realm(realm.uri)
  if (before !== undefined && before.managedBy !== null)
    return ownedBy('realm', realm.uri, before.managedBy)
  const digest = digestOf(realm)
  draft.putRealm({ uri: realm.uri, digest, managedBy: null, record: realm })
  return { item: done('realm', realm.uri, 'loaded', warnOfRealm(realm)) }
}

/** Documents that use the realm stay (behaviour §7). */
export const deleteUnmanagedRealm = (draft: Draft, uri: string): UnmanagedResult => {
  const before = draft.realm(uri)
  if (before === undefined) return { item: done('realm', uri, 'deleted') }
  if (before.managedBy !== null) return ownedBy('realm', uri, before.managedBy)
  draft.removeRealm(uri)
  return { item: done('realm', uri, 'deleted') }
}

/** No sender gave it a digest, so it has that of its canonical JSON. */
const toUnmanagedDocument = (
  validation: DocumentValidation & { readonly ok: true },
  since: number,
  ts: number,
): LoadedDocument => {
  const { id, warnings, claims, forwards } = validation
  const source = validation.source()
  const digest = hash('sha256', source)
  return {
    id,
    digest,
    since,
    managedBy: null,
    rank: rankOf(null),
    ts,
    warnings,
    source: compact(source),
    claims,
    forwards,
  }
}

const ownedBy = (kind: SyncItem['kind'], id: string, manager: string): UnmanagedResult => ({
  item: rejectedItem(kind, id, [
    {
      code: 'invalid_value',
      path: kind === 'spec' ? '/id' : '/uri',
      message: `'${id}' belongs to '${manager}', which alone may change it`,
    },
  ]),
  notOwner: manager,
})

const done = (
  kind: SyncItem['kind'],
  id: string,
  result: 'loaded' | 'deleted',
  warnings: readonly Warning[] = [],
): SyncItem => ({ id, kind, result, errors: [], warnings })
