// Compares what should be loaded with what is: once for all data planes that have loaded the same and should have the same.

import { oncePer } from '../../../base/once.ts'
import { areClaimsKnown, type LoadedContents } from './loaded-contents.ts'
import type { Keys, Selection } from './selection.ts'

/** At which keys they differ. It goes with the selection. */
export interface Comparison extends Keys {
  /** Ids of documents that are loaded as selected, without it being known which claims they have. */
  readonly unknown: ReadonlySet<string>
}

export const compare = (contents: LoadedContents, selection: Selection): Comparison =>
  comparedWith(selection)(contents)

const comparedWith = oncePer((selection: Selection) =>
  oncePer((contents: LoadedContents): Comparison => {
    const realms = new Set<string>()
    for (const [uri, { digest }] of selection.realms)
      if (contents.realms.get(uri) !== digest) realms.add(uri)
    for (const uri of contents.realms.keys()) if (!selection.realms.has(uri)) realms.add(uri)
    return { ...compareDocuments(selection.documents, contents.documents), realms }
  }),
)

const compareDocuments = (
  wanted: Selection['documents'],
  has: LoadedContents['documents'],
): Pick<Comparison, 'documents' | 'unknown'> => {
  const differing = new Set<string>()
  const unknown = new Set<string>()
  let common = 0
  for (const [id, document] of wanted) {
    const loaded = has.get(id)
    if (loaded !== undefined) common += 1
    if (loaded === undefined || !isSame(document, loaded)) differing.add(id)
    // Without a resource it was sent by an operator that is older: it goes on being reported so.
    else if (!areClaimsKnown(loaded) && loaded.resource !== '') unknown.add(id)
  }
  if (common < has.size) for (const id of has.keys()) if (!wanted.has(id)) differing.add(id)
  return { documents: differing, unknown }
}

interface Comparable {
  readonly digest: string
  /** Absent or empty where it is not known. */
  readonly resource?: string | undefined
}

/**
 * The same text may belong to another resource now. If a gateway knows no resource of it, an earlier operator has sent it:
 * it is not sent again for that, as gateways would compile all documents again; metrics lack a name until the next edit.
 */
const isSame = (wanted: Comparable, has: Comparable): boolean =>
  wanted.digest === has.digest && (!has.resource || wanted.resource === has.resource)
