// Accumulates the changes of what is served, for a worker that starts later.

import type { RealmRecord } from '../../../language/realm/record.ts'
import { sizeOfCompact } from '../../store/packed/compact.ts'
import type { PackedDocument } from '../../store/packed/packed-document.ts'
import type { ServingChange } from '../../store/serving.ts'

export interface ReplicatedContent {
  /** Adds a change; the function it returns removes it again. */
  add(change: ServingChange): () => void
  /** Realms first, then documents in portions, so that no message is huge. */
  portions(): readonly ServingChange[]
}

/** Bytes of documents in one message, give or take a document. */
const PORTION_BYTES = 4 * 1024 * 1024

export const createReplicatedContent = (): ReplicatedContent => {
  const documents = new Map<string, PackedDocument>()
  const realms = new Map<string, RealmRecord>()
  let isComplete = false
  return {
    add: (change) => {
      const wasOfManager = isComplete
      isComplete ||= change.isComplete === true
      const undo = [
        ...change.realms.put.map((realm) => replace(realms, realm.uri, realm)),
        ...change.remove.map((id) => replace(documents, id, undefined)),
        ...change.put.map((document) => replace(documents, document.id, document)),
        ...change.realms.delete.map((uri) => replace(realms, uri, undefined)),
      ]
      return () => {
        for (const step of undo.toReversed()) step()
        isComplete = wasOfManager
      }
    },
    portions: () => [
      {
        put: [],
        remove: [],
        realms: { put: [...realms.values()], delete: [] },
        ...(isComplete && { isComplete }),
      },
      ...splitDocuments([...documents.values()]).map((put) => ({
        put,
        remove: [],
        realms: { put: [], delete: [] },
      })),
    ],
  }
}

/** Returns a function that undoes it. */
const replace = <V>(map: Map<string, V>, key: string, value: V | undefined): (() => void) => {
  const before = map.get(key)
  const set = (next: V | undefined): void => {
    if (next === undefined) map.delete(key)
    else map.set(key, next)
  }
  set(value)
  return () => {
    set(before)
  }
}

/** What a path takes in a message beside its operations. */
const ROUTE_BYTES = 512

const countPaths = ({ versions }: PackedDocument): number =>
  versions.reduce((count, { paths }) => count + paths.length, 0)

const splitDocuments = (documents: readonly PackedDocument[]): readonly PackedDocument[][] => {
  const portions: PackedDocument[][] = []
  let room = 0
  for (const document of documents) {
    if (room <= 0) {
      portions.push([])
      room = PORTION_BYTES
    }
    portions.at(-1)?.push(document)
    room -= sizeOfCompact(document.content) + ROUTE_BYTES * countPaths(document)
  }
  return portions
}
