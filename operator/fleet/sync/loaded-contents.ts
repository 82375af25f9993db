// Makes one object for all data planes that have loaded the same: by the steps that they take together, and by root digest
// where they came to it in different ways. What follows from it is then computed once, however many data planes there are.

import { isSameMap } from '../../../base/same-entries.ts'
import type { Claim } from '../../../language/compile/conflicts.ts'
import { createInterner } from '../../../base/intern.ts'
import { oncePer } from '../../../base/once.ts'
import { type LoadedEntry, rootDigest } from '../../../language/wire/digest.ts'
import type { LoadedDocument } from '../../data-plane.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { edited, type Edits } from '../../edited-map.ts'

/** What data planes have loaded of one owner. Never changes. */
export interface LoadedContents {
  /** Documents by id, without warnings: data planes that have loaded the same may warn of different things. */
  readonly documents: ReadonlyMap<string, LoadedDocument>
  /** Digests, by uri. */
  readonly realms: ReadonlyMap<string, string>
}

export interface ContentEdits {
  readonly documents: Edits<LoadedDocument>
  readonly realms: Edits<string>
}

export const NOTHING_LOADED: LoadedContents = { documents: new Map(), realms: new Map() }

/** What came last of each: contents that are left behind keep no later ones. */
const next = new WeakMap<LoadedContents, WeakRef<LoadedContents>>()
/** They go with the contents that they led to. */
const editsTo = new WeakMap<LoadedContents, ContentEdits>()

/**
 * The same object where the same edits were made last: a hundred data planes that are sent the same batches go through the
 * same contents.
 * @param edits not changed from now on
 */
export const withEdits = (before: LoadedContents, edits: ContentEdits): LoadedContents => {
  const last = next.get(before)?.deref()
  if (last !== undefined && isSameEdits(editsTo.get(last), edits)) return last
  const documents = edited(before.documents, edits.documents)
  const realms = edited(before.realms, edits.realms)
  if (documents === before.documents && realms === before.realms) return before
  const after = { documents, realms }
  next.set(before, new WeakRef(after))
  editsTo.set(after, edits)
  return after
}

const isSameEdits = (left: ContentEdits | undefined, right: ContentEdits): boolean =>
  left !== undefined &&
  isSameMap(left.documents, right.documents) &&
  isSameMap(left.realms, right.realms)

/** What a data plane has loaded once it was sent the document: the same object for all of them. */
export const loadedOf = oncePer((document: DesiredDocument): LoadedDocument => {
  const { digest, resource, claims } = document
  const loaded = { digest, resource, warnings: NO_WARNINGS }
  claimsByDocument.set(loaded, claims)
  return loaded
})

export const NO_WARNINGS: LoadedDocument['warnings'] = []

const claimsByDocument = new WeakMap<LoadedDocument, readonly Claim[]>()

/** None where it is not known which document this is: an earlier operator has sent it. */
export const claimsOf = (loaded: LoadedDocument | undefined): readonly Claim[] =>
  (loaded && claimsByDocument.get(loaded)) ?? NO_CLAIMS

const NO_CLAIMS: readonly Claim[] = []

export const areClaimsKnown = (loaded: LoadedDocument): boolean => claimsByDocument.has(loaded)

/** Takes 5 ms for 10,000 documents. */
export const rootDigestOf = (contents: LoadedContents): string => rootOf(contents).digest

const rootOf = oncePer(({ documents, realms }: LoadedContents) => {
  const entries: LoadedEntry[] = []
  for (const [key, digest] of realms) entries.push({ kind: 'realm', key, digest })
  for (const [key, { digest }] of documents) entries.push({ kind: 'spec', key, digest })
  return { digest: rootDigest(entries) }
})

/** Gives the contents that another data plane with the same root digest has, if they are the same in everything else. */
export type ShareContents = (contents: LoadedContents, digest: string) => LoadedContents

export const createContentShare = (): ShareContents => {
  const intern = createInterner<LoadedContents>({ from: 'first' })
  return (contents, digest) => {
    const known = intern(digest, () => contents)
    const isSame =
      known === contents ||
      (isSameMap(known.documents, contents.documents, isSameDocument) &&
        isSameMap(known.realms, contents.realms))
    return isSame ? known : contents
  }
}

/** Nothing that is known of the right one is lost with the left one. */
const isSameDocument = (left: LoadedDocument, right: LoadedDocument): boolean =>
  left === right ||
  (left.digest === right.digest &&
    left.resource === right.resource &&
    (areClaimsKnown(left) || !areClaimsKnown(right)))
