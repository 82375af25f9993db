// Encodes and decodes the index of a snapshot: its owner, the state of its syncs, and the files that it consists of. A
// change is durable once the index is replaced, or has one more line.

import { checkedLine, readCheckedLines } from '../../checked-lines.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import type { Ownership } from '../loaded-content.ts'
import { isEntryFileName, parse, sha256 } from './snapshot-record.ts'

const FORMAT = 2
/** It had no lines of changes. */
const FIRST_FORMAT = 1

export interface SnapshotIndex extends Ownership {
  /** Names carry the checksums. */
  readonly files: readonly string[]
}

/** What a change adds to the files, and takes from them. */
export interface IndexChange {
  readonly put: readonly string[]
  readonly drop: readonly string[]
}

/** First line: sha256 of the second. */
export const writeIndex = ({ manager, epoch, complete, files }: SnapshotIndex): Buffer => {
  const text = JSON.stringify({ format: FORMAT, manager, epoch, complete, files })
  return Buffer.from(`${sha256(text)}\n${text}\n`)
}

/** A line to be appended: its sha256, and the change. */
export const writeChange = ({
  manager,
  epoch,
  complete,
  put,
  drop,
}: IndexChange & Ownership): Buffer => {
  const text = JSON.stringify({ manager, epoch, complete, put, drop })
  return Buffer.from(checkedLine(text))
}

/** undefined: damaged, or of another format. A last line that a kill or a power cut has left does not count. */
export const readIndex = (bytes: Buffer): SnapshotIndex | undefined => {
  const [checksum, first = '', ...rest] = bytes.toString().split('\n')
  const index = readChecked(checksum, first)
  const { texts, damagedLine } = readCheckedLines(rest.join('\n'))
  const format = index?.['format']
  if (index === undefined || damagedLine !== undefined) return undefined
  if (format !== FORMAT && format !== FIRST_FORMAT) return undefined
  const files = new Set(namesOf(index['files']))
  let ownership = ownershipOf(index)
  for (const text of texts) {
    const change = parse(text)
    if (!isMap(change)) return undefined
    for (const name of namesOf(change['drop'])) files.delete(name)
    for (const name of namesOf(change['put'])) files.add(name)
    ownership = ownershipOf(change)
  }
  return { ...ownership, files: [...files] }
}

const readChecked = (checksum: string | undefined, text: string): ValueMap | undefined => {
  if (sha256(text) !== checksum) return undefined
  const value = parse(text)
  return isMap(value) ? value : undefined
}

/** The checksum says that they are what this or an earlier version has written. */
const ownershipOf = (value: ValueMap): Ownership => ({
  manager: typeof value['manager'] === 'string' ? value['manager'] : null,
  epoch: Number(value['epoch']),
  complete: value['complete'] === true,
})

const namesOf = (value: unknown): readonly string[] =>
  Array.isArray(value)
    ? value.filter((name): name is string => typeof name === 'string' && isEntryFileName(name))
    : []
