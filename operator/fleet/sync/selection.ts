// Selects the part of the desired set that one data plane should have loaded. Pure.

import { once, oncePer } from '../../../base/once.ts'
import { rootDigest } from '../../../language/wire/digest.ts'
import { reportedBytes } from '../../../language/wire/report-bounds.ts'
import { type DataPlane, isSelected, mayHoldRealm } from '../../data-plane.ts'
import type { DesiredDocument, DesiredRealm, DesiredSet } from '../../desired-set.ts'
import { changedKeys } from '../../edited-map.ts'

export interface Selection {
  readonly desired: DesiredSet
  readonly documents: ReadonlyMap<string, DesiredDocument>
  /** Those that the documents use. */
  readonly realms: ReadonlyMap<string, DesiredRealm>
  readonly realmUris: ReadonlySet<string>
  /** What a data plane that has loaded just this may report of it, bytes; computed once for all data planes. */
  readonly reportedBytes: () => number
  /** Of a data plane that has loaded just this; 1 ms for a thousand documents at the first call. */
  readonly rootDigest: () => string
  /** Keys at which it differs from an earlier one; looked for once for all data planes. */
  readonly changesSince: (earlier: Selection) => Keys
}

export interface Keys {
  /** Ids. */
  readonly documents: ReadonlySet<string>
  /** Uris. */
  readonly realms: ReadonlySet<string>
}

export const select = (desired: DesiredSet, dataPlane: DataPlane): Selection => {
  const documents = new Map<string, DesiredDocument>()
  const realms = new Map<string, DesiredRealm>()
  for (const [id, document] of desired.documents) {
    if (!isSelected(document, dataPlane)) continue
    const realm = desired.realms.get(document.realmUri)
    if (realm !== undefined && !mayHoldRealm(dataPlane, realm.namespace)) continue
    documents.set(id, document)
    if (realm !== undefined) realms.set(realm.uri, realm)
  }
  return {
    desired,
    documents,
    realms,
    realmUris: new Set(realms.keys()),
    reportedBytes: once(() => reportedBytesOf(documents, realms)),
    rootDigest: once(() => rootDigestOf(documents, realms)),
    changesSince: oncePer((earlier) => ({
      documents: changedKeys(earlier.documents, documents),
      realms: changedKeys(earlier.realms, realms),
    })),
  }
}

const reportedBytesOf = (
  documents: ReadonlyMap<string, DesiredDocument>,
  realms: ReadonlyMap<string, DesiredRealm>,
): number => {
  let bytes = 0
  for (const id of documents.keys()) bytes += reportedBytes('spec', id)
  for (const uri of realms.keys()) bytes += reportedBytes('realm', uri)
  return bytes
}

const rootDigestOf = (
  documents: ReadonlyMap<string, DesiredDocument>,
  realms: ReadonlyMap<string, DesiredRealm>,
): string =>
  rootDigest([
    ...Array.from(realms, ([key, { digest }]) => ({ kind: 'realm', key, digest }) as const),
    ...Array.from(documents, ([key, { digest }]) => ({ kind: 'spec', key, digest }) as const),
  ])

/** The selections of one desired set: made at first use, one for all data planes that are alike. */
export class Selections {
  readonly desired: DesiredSet
  readonly #labelKeys: readonly string[]
  readonly #known = new Map<string, Selection>()

  constructor(desired: DesiredSet) {
    this.desired = desired
    this.#labelKeys = mentionedLabels(desired)
  }

  for(dataPlane: DataPlane): Selection {
    const { namespace = null, labels } = dataPlane
    // Pods of one Deployment or StatefulSet differ in labels that no document selects by.
    const selecting = this.#labelKeys.map((key) =>
      Object.hasOwn(labels, key) ? labels[key] : null,
    )
    const key = JSON.stringify([namespace, selecting])
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const selection = select(this.desired, dataPlane)
    this.#known.set(key, selection)
    return selection
  }
}

const mentionedLabels = ({ documents }: DesiredSet): readonly string[] => {
  const keys = new Set<string>()
  for (const { selector } of documents.values()) {
    for (const key of Object.keys(selector?.matchLabels ?? {})) keys.add(key)
    for (const { key } of selector?.matchExpressions ?? []) keys.add(key)
  }
  return [...keys]
}
