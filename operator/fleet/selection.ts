// The desired set and one data plane in; what that data plane should hold out. Pure.

import { type DataPlane, isSelected } from '../data-plane.ts'
import type { DesiredDocument, DesiredRealm, DesiredSet } from '../desired-set.ts'

export interface Selection {
  readonly desired: DesiredSet
  readonly documents: ReadonlyMap<string, DesiredDocument>
  /** Those that the documents use. */
  readonly realms: ReadonlyMap<string, DesiredRealm>
}

export const select = (desired: DesiredSet, dataPlane: DataPlane): Selection => {
  const documents = new Map<string, DesiredDocument>()
  const realms = new Map<string, DesiredRealm>()
  for (const [id, document] of desired.documents) {
    if (!isSelected(document, dataPlane)) continue
    documents.set(id, document)
    const realm = desired.realms.get(document.realmUri)
    if (realm !== undefined) realms.set(realm.uri, realm)
  }
  return { desired, documents, realms }
}
