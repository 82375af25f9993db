import { describe, expect, it } from '@jest/globals'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openJournal, type OpenFile } from '../../../dataplane/shared/journal.ts'
import type { JournalEntry } from '../../../dataplane/shared/memory-state.ts'
import { StartError } from '../../../dataplane/start-error.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const NOW = 1_000
const now = (): number => NOW
const entry = (key: string): JournalEntry => ({ kind: 'revoked', key, until: 9_999 })

/** The bytes of a journal of three lines behind the header. */
const aJournal = async (directory: string): Promise<Buffer> => {
  const { journal } = await openJournal(directory, now)
  for (const key of ['a', 'b', 'c']) await journal.append(entry(key))
  await journal.close()
  return readFile(join(directory, 'shared', 'journal'))
}

/** Keys, after the word for what was found; or what refused to open. */
const reopened = async (directory: string, content: Uint8Array): Promise<string> => {
  await writeFile(join(directory, 'shared', 'journal'), content)
  try {
    const { journal, restored, found } = await openJournal(directory, now)
    await journal.close()
    return `${found} ${restored.map(({ key }) => key).join('')}`
  } catch (error) {
    if (error instanceof StartError) return 'refused'
    throw error
  }
}

const linesOf = (content: Buffer): readonly string[] => content.toString().split(/(?<=\n)/)

describe('a journal', () => {
  it.each<readonly [string, (content: Buffer) => Uint8Array, string]>([
    ['as it was written', (content) => content, 'whole abc'],
    ['without its last byte', (content) => content.subarray(0, -1), 'torn ab'],
    ['without half of its last line', (content) => content.subarray(0, -40), 'torn ab'],
    [
      'with the beginning of a line behind it',
      (content) => Buffer.concat([content, content.subarray(0, 20)]),
      'torn abc',
    ],
    ['with zeros behind it', (content) => Buffer.concat([content, Buffer.alloc(100)]), 'torn abc'],
    [
      'with a page of zeros in its last line',
      (content) => Buffer.from(content).fill(0, content.length - 60, content.length - 1),
      'torn ab',
    ],
    ['that is empty', () => Buffer.alloc(0), 'refused'],
    ['of a part of its header', (content) => content.subarray(0, 30), 'refused'],
    ['of zeros', (content) => Buffer.alloc(content.length), 'refused'],
    ['with zeros in it', (content) => Buffer.from(content).fill(0, 120, 220), 'refused'],
    ['without its header', (content) => Buffer.from(linesOf(content).slice(1).join('')), 'refused'],
    ['with an empty line in it', (content) => Buffer.from(linesOf(content).join('\n')), 'refused'],
    ['with CRLF', (content) => Buffer.from(content.toString().replaceAll('\n', '\r\n')), 'refused'],
    [
      'without half of a line in it',
      (content) => Buffer.concat([content.subarray(0, 120), content.subarray(160)]),
      'refused',
    ],
    ['of another program', () => Buffer.from('{"keys":[]}\n'), 'refused'],
    ['of an earlier version', () => Buffer.from(`${JSON.stringify(entry('a'))}\n`), 'refused'],
  ])('%s', async (_title, damage, expected) => {
    await using dir = await makeTempDir()
    expect(await reopened(dir.path, damage(await aJournal(dir.path)))).toBe(expected)
  })

  it('with any one bit flipped is refused, or lacks its last line and says so', async () => {
    await using dir = await makeTempDir()
    const content = await aJournal(dir.path)
    const last = content.lastIndexOf('\n', content.length - 2) + 1
    for (let at = 0; at < content.length; at += 5) {
      const flipped = Buffer.from(content)
      flipped[at] = (content[at] ?? 0) ^ (1 << (at % 8))
      const expected = at < last ? ['refused'] : ['refused', 'torn ab']
      expect(expected).toContain(await reopened(dir.path, flipped))
    }
  })

  it('that was cut anywhere is refused, or has all lines before the cut', async () => {
    await using dir = await makeTempDir()
    const content = await aJournal(dir.path)
    const header = content.indexOf('\n') + 1
    const ends = Array.from(content.keys()).filter((at) => content[at - 1] === 0x0a || at % 5 === 0)
    for (const length of ends) {
      const lines = content.subarray(0, length).toString().split('\n').length - 2
      const isWhole = content[length - 1] === 0x0a
      const keys = 'abc'.slice(0, lines)
      expect(await reopened(dir.path, content.subarray(0, length))).toBe(
        length < header ? 'refused' : `${isWhole ? 'whole' : 'torn'} ${keys}`,
      )
    }
  })

  it('that is refused stays as it is, and the message says where it is and what to do', async () => {
    await using dir = await makeTempDir()
    const content = Buffer.from(await aJournal(dir.path)).fill(0, 120, 130)
    const path = join(dir.path, 'shared', 'journal')
    await writeFile(path, content)
    await expect(openJournal(dir.path, now)).rejects.toThrow(
      `the journal ${path} is damaged: line 2 is not what was written. Without it, what was revoked or used would count again: restore it from a backup; or move it away`,
    )
    expect((await readFile(path)).equals(content)).toBe(true)
    await rm(path)
    const { journal, found } = await openJournal(dir.path, now)
    await journal.close()
    expect(found).toBe('new')
  })

  it('has entries of one moment in one line, which is there as a whole or not at all', async () => {
    await using dir = await makeTempDir()
    const { journal } = await openJournal(dir.path, now)
    await Promise.all(['a', 'b', 'c'].map((key) => journal.append(entry(key))))
    await journal.close()
    const content = await readFile(join(dir.path, 'shared', 'journal'))
    expect(linesOf(content)).toHaveLength(2)
    expect(await reopened(dir.path, content.subarray(0, -10))).toBe('torn ')
    expect(await reopened(dir.path, content)).toBe('whole abc')
  })

  it('loses nothing for a line that a full disk has cut', async () => {
    await using dir = await makeTempDir()
    let isFull = false
    const openFile: OpenFile = async (...how) => {
      const file = await open(...how)
      const append = file.appendFile.bind(file)
      file.appendFile = async (data) => {
        if (!isFull) return append(data)
        await append((data as Buffer).subarray(0, 30))
        throw new Error('ENOSPC')
      }
      return file
    }
    const { journal } = await openJournal(dir.path, now, openFile)
    await journal.append(entry('a'))
    isFull = true
    await expect(journal.append(entry('b'))).rejects.toThrow('ENOSPC')
    await expect(journal.append(entry('c'))).rejects.toThrow('ENOSPC')
    isFull = false
    await journal.append(entry('d'))
    await journal.close()
    expect(await reopened(dir.path, await readFile(join(dir.path, 'shared', 'journal')))).toBe(
      'whole ad',
    )
  })
})
