// The desired set and one data plane in; what that data plane should hold out. Pure.

import type { DataPlane } from '../data-plane.ts'
import type { DesiredDocument, DesiredRealm, DesiredSet } from '../desired-set.ts'
import { selects } from '../resource/label-selector.ts'

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

/**
 * No selector: the shared pool. A sidecar gets only documents of its own namespace that select it.
 * @example isSelected({namespace: 'a'}, {name: 'x', url: '…', labels: {}}) // true
 */
export const isSelected = (
  { selector, namespace }: Pick<DesiredDocument, 'selector' | 'namespace'>,
  dataPlane: DataPlane,
): boolean => {
  if (dataPlane.namespace !== undefined && dataPlane.namespace !== namespace) return false
  if (selector === undefined) return dataPlane.namespace === undefined
  return selects(selector, dataPlane.labels)
}
