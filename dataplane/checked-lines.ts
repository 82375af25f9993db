// Writes and reads the lines of files that grow by one line for each change: a line begins with the checksum of its text,
// so that damage is told from the last line of a process that was killed.

import { hash } from 'node:crypto'

export interface CheckedLines {
  /** The text of each line up to the first one that is damaged. */
  readonly texts: readonly string[]
  /** The last line was not written to its end, and is left out. */
  readonly isTorn: boolean
  /** The number of the first line that is damaged, from 1. */
  readonly damagedLine: number | undefined
}

/** @param text without line breaks */
export const checkedLine = (text: string): string => `${hash('sha256', text)} ${text}\n`

/**
 * A kill leaves a line without its end. After a power cut the end may be there and have zeros before it, in place of a
 * page that was not written: only in the last line, if each is durable before the next.
 * @example readCheckedLines(checkedLine('{}')).texts // ['{}']
 */
export const readCheckedLines = (content: string): CheckedLines => {
  const lines = content.split('\n')
  const unfinished = lines.pop() ?? ''
  const hasZeros = unfinished === '' && lines.at(-1)?.includes('\0') === true
  if (hasZeros) lines.pop()
  const texts = lines.map((line) => line.slice(CHECKSUM_LENGTH + 1))
  const damaged = lines.findIndex((line, at) => line !== checkedLine(texts[at] ?? '').slice(0, -1))
  return {
    texts: damaged < 0 ? texts : texts.slice(0, damaged),
    isTorn: hasZeros || unfinished !== '',
    damagedLine: damaged < 0 ? undefined : damaged + 1,
  }
}

const CHECKSUM_LENGTH = 64
