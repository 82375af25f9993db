// Encodes and decodes the index of a snapshot: its owner, the state of its syncs, and the files that it consists of.
// Replacing it is what makes a change durable.

import { isMap } from '../../language/expression/value.ts'
import type { Ownership } from './loaded-content.ts'
import { isEntryFileName, sha256 } from './snapshot-record.ts'

const FORMAT = 1

export interface SnapshotIndex extends Ownership {
  /** Names carry the checksums. */
  readonly files: readonly string[]
}

/** First line: sha256 of the rest. */
export const writeIndex = ({ manager, epoch, complete, files }: SnapshotIndex): Buffer => {
  const text = JSON.stringify({ format: FORMAT, manager, epoch, complete, files })
  return Buffer.from(`${sha256(text)}\n${text}`)
}

/** undefined: damaged, or of another format. */
export const readIndex = (bytes: Buffer): SnapshotIndex | undefined => {
  const text = bytes.toString()
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || sha256(body) !== text.slice(0, end)) return undefined
  const index: unknown = JSON.parse(body)
  if (!isMap(index) || index['format'] !== FORMAT || !Array.isArray(index['files']))
    return undefined
  const files = (index['files'] as readonly unknown[]).filter((name) => typeof name === 'string')
  if (!files.every(isEntryFileName)) return undefined
  return {
    manager: typeof index['manager'] === 'string' ? index['manager'] : null,
    epoch: Number(index['epoch']),
    complete: index['complete'] === true,
    files,
  }
}
