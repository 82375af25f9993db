// Plans one change by hand (a document, a realm, a delete) on a draft. A document loaded by hand loses every
// conflict: it is rejected, with the name of the winner (behaviour §2).

import { hash } from 'node:crypto'
import { conflictProblem } from '../../language/routes/conflicts.ts'
import { digestOf } from '../../language/wire/digest.ts'

import type { Warning } from '../../language/problem.ts'
import { judgeRealm } from './judge-realm.ts'
import type { SyncItem } from '../../language/wire/wire.ts'
import { factsOf } from '../../language/realm/facts.ts'
import type { Draft } from './draft.ts'
import type { HeldDocument } from './holdings.ts'
import type { Judge, Judgement } from './judge.ts'
import { warnOfRealm } from '../../language/realm/warnings.ts'
import { rejectedItem } from './rejected-item.ts'

/** `notOwner`: the entry belongs to the manager, which alone may change it. */
export interface HandResult {
  readonly item: SyncItem
  readonly notOwner?: string
}

export interface HandContext {
  readonly judge: Judge
  /** Unix time, milliseconds. */
  readonly nowMs: number
  /** The age of a new document: later than any before it, so that load order decides conflicts. */
  readonly nextSince: () => number
}

export const loadByHand = async (
  draft: Draft,
  document: unknown,
  context: HandContext,
): Promise<HandResult> => {
  const judgement = await context.judge(document, {
    realm: (uri) => {
      const realm = draft.realm(uri)
      return realm && factsOf(realm.record)
    },
  })
  const { id } = judgement
  const before = draft.document(id)
  if (before !== undefined && before.managedBy !== null)
    return ownedBy('spec', id, before.managedBy)
  if (!judgement.ok)
    return { item: rejectedItem('spec', id, judgement.problems, judgement.warnings) }
  const since = before?.since ?? context.nextSince()
  const candidate = heldByHand(judgement, since, context.nowMs)
  const clashes = draft.clashesOf(candidate)
  if (clashes.length > 0) {
    const problems = clashes.map(({ claim, winnerId }) => conflictProblem(claim, winnerId))
    return { item: rejectedItem('spec', id, problems) }
  }
  draft.putDocument(candidate, judgement.pack({ since, rank: 1 }))
  return { item: done('spec', id, 'loaded', judgement.warnings) }
}

/** Deleting an unknown id succeeds (behaviour §2). */
export const deleteByHand = (draft: Draft, id: string): HandResult => {
  const before = draft.document(id)
  if (before === undefined) return { item: done('spec', id, 'deleted') }
  if (before.managedBy !== null) return ownedBy('spec', id, before.managedBy)
  draft.removeDocument(id)
  return { item: done('spec', id, 'deleted') }
}

export const putRealmByHand = (draft: Draft, record: unknown): HandResult => {
  const validated = judgeRealm(record)
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
export const deleteRealmByHand = (draft: Draft, uri: string): HandResult => {
  const before = draft.realm(uri)
  if (before === undefined) return { item: done('realm', uri, 'deleted') }
  if (before.managedBy !== null) return ownedBy('realm', uri, before.managedBy)
  draft.removeRealm(uri)
  return { item: done('realm', uri, 'deleted') }
}

/** No sender gave it a digest, so it has that of its canonical JSON. */
const heldByHand = (
  judgement: Judgement & { readonly ok: true },
  since: number,
  ts: number,
): HeldDocument => {
  const { id, warnings, claims, forwards } = judgement
  const source = judgement.source()
  const digest = hash('sha256', source)
  return { id, digest, since, managedBy: null, ts, warnings, source, claims, forwards }
}

const ownedBy = (kind: SyncItem['kind'], id: string, manager: string): HandResult => ({
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
