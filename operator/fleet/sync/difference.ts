// Computes what is to be sent to a data plane and deleted from it. Pure: compares digests alone, never bodies.

import type { DesiredDocument, DesiredRealm, DesiredSet } from '../../desired-set.ts'
import type { LoadedState } from './loaded-state.ts'
import type { Rejections } from './rejections.ts'
import type { Selection } from './selection.ts'

export interface Difference {
  readonly realms: { readonly put: readonly DesiredRealm[]; readonly delete: readonly string[] }
  readonly documents: {
    readonly put: readonly DesiredDocument[]
    readonly delete: readonly string[]
    /** Loaded, no longer wanted here, and kept until a data plane that they select has them. */
    readonly waiting: readonly string[]
  }
}

export const NO_DIFFERENCE: Difference = {
  realms: { put: [], delete: [] },
  documents: { put: [], delete: [], waiting: [] },
}

export const differenceOf = (
  selection: Selection,
  loaded: LoadedState,
  rejections: Rejections,
  /** Whether a ready data plane that it selects now has the document loaded. */
  isElsewhere: (document: DesiredDocument) => boolean,
): Difference => {
  const { documents, realms, desired } = selection
  const isStale = (id: string): boolean => {
    if (documents.has(id) || desired.kept.documents.has(id)) return false
    const document = desired.documents.get(id)
    // Selected by others now: it goes only when one of them has it.
    return document === undefined || isElsewhere(document)
  }
  const differing = loaded.differing(selection)
  const ids = [...differing.documents]
  const uris = [...differing.realms]
  const unwanted = ids.filter((id) => loaded.documents.has(id) && !documents.has(id))
  const strays = unwanted.filter((id) => !isStale(id))
  // A document that stays without being wanted may use any realm.
  const hasStray = strays.length > 0
  const isStaleRealm = (uri: string): boolean => {
    if (desired.revokedRealms?.has(uri) === true) return true
    if (realms.has(uri) || desired.kept.realms.has(uri)) return false
    return !desired.realms.has(uri) || !hasStray
  }
  return {
    realms: {
      put: wanted(uris, realms, rejections.realms),
      delete: uris.filter((uri) => loaded.realms.has(uri) && isStaleRealm(uri)),
    },
    documents: {
      put: wanted(ids, documents, rejections.documents),
      delete: unwanted.filter(isStale),
      waiting: strays.filter((id) => desired.documents.has(id)),
    },
  }
}

/** What was rejected is not sent again. */
const wanted = <T extends { readonly digest: string }>(
  keys: readonly string[],
  entries: ReadonlyMap<string, T>,
  rejected: ReadonlyMap<string, { readonly digest: string }>,
): readonly T[] =>
  keys.flatMap((key) => {
    const entry = entries.get(key)
    return entry === undefined || rejected.get(key)?.digest === entry.digest ? [] : [entry]
  })

export const isEmpty = ({ realms, documents }: Difference): boolean =>
  realms.put.length + realms.delete.length + documents.put.length + documents.delete.length === 0

export const withoutDeletes = ({ realms, documents }: Difference): Difference => ({
  realms: { put: realms.put, delete: [] },
  documents: { ...documents, delete: [] },
})

/** Separates the deletes that must not wait from all else. */
export const splitRevoked = (
  difference: Difference,
  { revokedRealms = NONE, revokedDocuments = NONE }: DesiredSet,
): { readonly revoked: Difference; readonly rest: Difference } => {
  const realms = Object.groupBy(difference.realms.delete, (uri) => nameOf(revokedRealms.has(uri)))
  const documents = Object.groupBy(difference.documents.delete, (id) =>
    nameOf(revokedDocuments.has(id)),
  )
  return {
    revoked: {
      realms: { put: [], delete: realms.revoked ?? [] },
      documents: { put: [], delete: documents.revoked ?? [], waiting: [] },
    },
    rest: {
      realms: { ...difference.realms, delete: realms.other ?? [] },
      documents: { ...difference.documents, delete: documents.other ?? [] },
    },
  }
}

const NONE: ReadonlySet<string> = new Set()

const nameOf = (isRevoked: boolean): 'revoked' | 'other' => (isRevoked ? 'revoked' : 'other')
