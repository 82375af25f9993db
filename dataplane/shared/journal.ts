// Stores the shared state of one machine in the state directory: entries are appended as JSON lines, read back at the
// start, and rewritten without those that have expired. The last line, which a crash has cut short, is left out; a file
// that is damaged before is never read as if it held less.

import { mkdir, open, readFile, rename, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SerialQueue } from '../../base/serial-queue.ts'
import { checkedLine, readCheckedLines } from '../checked-lines.ts'
import { StartError } from '../start-error.ts'
import type { Journal, JournalEntry } from './memory-state.ts'

export interface OpenedJournal {
  readonly journal: Journal
  readonly restored: readonly JournalEntry[]
  /** `new`: there was none. `torn`: what was being written when the last process was killed is left out. */
  readonly found: 'new' | 'whole' | 'torn'
}

/** The first line, so that no part of a journal is an empty one. */
const HEADER = JSON.stringify({ journal: 1 })

/** The most entries in one line of a journal that is rewritten. */
const ENTRIES_OF_A_LINE = 1000

/** A journal this long is rewritten once half of its entries have expired or were replaced. */
const COMPACT_FROM_LINES = 10_000

/**
 * Rejects with the file system's own error.
 * @param nowSeconds Unix time
 * @throws StartError where the file is damaged before its last line, or is no journal: what was revoked would count again
 */
export const openJournal = async (
  stateDirectory: string,
  nowSeconds: () => number,
  openFile: OpenFile = open,
): Promise<OpenedJournal> => {
  const path = join(stateDirectory, 'shared', 'journal')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const { entries, found } = await readEntries(path)
  const restored = alive(entries, nowSeconds())
  const file = new JournalFile(path, openFile)
  await file.rewrite(restored)
  return { journal: new FileJournal(file, restored, nowSeconds), restored, found }
}

/** As `open` of node:fs/promises. */
export type OpenFile = (path: string, flags: string, mode?: number) => Promise<FileHandle>

/** A file of whole lines, which are durable. */
class JournalFile {
  readonly #path: string
  readonly #openFile: OpenFile
  #handle: FileHandle | undefined
  #bytes = 0
  /** A write has failed: what of it is in the file is behind `#bytes`. */
  #isCut = false

  constructor(path: string, openFile: OpenFile) {
    this.#path = path
    this.#openFile = openFile
  }

  async append(entries: readonly JournalEntry[]): Promise<void> {
    const handle = this.#handle
    if (handle === undefined) throw new Error('the journal is not open')
    // A line must begin where the last one ended: a full disk may have cut one short.
    if (this.#isCut) await handle.truncate(this.#bytes)
    this.#isCut = true
    const line = Buffer.from(lineOf(entries))
    await handle.appendFile(line)
    await handle.datasync()
    this.#isCut = false
    this.#bytes += line.length
  }

  /** Replaces the file durably, and opens the new one for appending. */
  async rewrite(entries: readonly JournalEntry[]): Promise<void> {
    const lines = [checkedLine(HEADER)]
    for (let at = 0; at < entries.length; at += ENTRIES_OF_A_LINE)
      lines.push(lineOf(entries.slice(at, at + ENTRIES_OF_A_LINE)))
    const content = Buffer.from(lines.join(''))
    const temporary = `${this.#path}.tmp`
    const file = await this.#openFile(temporary, 'w', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    const next = await this.#openFile(temporary, 'a')
    await rename(temporary, this.#path)
    await this.#handle?.close()
    this.#handle = next
    this.#bytes = content.length
    this.#isCut = false
    // Otherwise a power cut may bring the former file back, without what is appended from now on.
    await this.#syncDirectory()
  }

  async close(): Promise<void> {
    await this.#handle?.close()
  }

  async #syncDirectory(): Promise<void> {
    const directory = await this.#openFile(dirname(this.#path), 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  }
}

class FileJournal implements Journal {
  readonly #nowSeconds: () => number
  readonly #file: JournalFile
  #entries: number
  /** From this many entries on it is checked how many are still valid. */
  #compactFrom: number
  /** The newest entry of each key, which a rewritten file contains. */
  readonly #current: Map<string, JournalEntry>
  #pending: JournalEntry[] = []
  #writing: Promise<void> | undefined
  /** One write after the other; a failed one does not stop those behind it. */
  readonly #writes = new SerialQueue()

  constructor(file: JournalFile, entries: readonly JournalEntry[], nowSeconds: () => number) {
    this.#file = file
    this.#entries = entries.length
    this.#current = new Map(entries.map((entry) => [nameOf(entry), entry]))
    this.#compactFrom = this.#worthCompacting()
    this.#nowSeconds = nowSeconds
  }

  /** Entries of the same moment share one line, one write and one sync. */
  append(entry: JournalEntry): Promise<void> {
    this.#current.set(nameOf(entry), entry)
    this.#pending.push(entry)
    this.#writing ??= Promise.resolve().then(() => this.#write())
    return this.#writing
  }

  async close(): Promise<void> {
    await this.#writing?.catch(() => undefined)
    await this.#writes.idle()
    await this.#file.close()
  }

  async #write(): Promise<void> {
    const entries = this.#pending
    this.#pending = []
    this.#writing = undefined
    await this.#writes.run(async () => {
      await this.#file.append(entries)
      this.#entries += entries.length
      if (this.#entries >= this.#compactFrom) await this.#compact()
    })
  }

  async #compact(): Promise<void> {
    const now = this.#nowSeconds()
    for (const [name, { until }] of this.#current) if (until <= now) this.#current.delete(name)
    this.#compactFrom = this.#worthCompacting()
    if (this.#entries < this.#compactFrom) return
    await this.#file.rewrite([...this.#current.values()])
    this.#entries = this.#current.size
  }

  #worthCompacting(): number {
    return Math.max(COMPACT_FROM_LINES, 2 * this.#current.size)
  }
}

const nameOf = ({ kind, key }: JournalEntry): string => `${kind}\t${key}`

const lineOf = (entries: readonly JournalEntry[]): string => checkedLine(JSON.stringify(entries))

/** The newest entry of each key, if it has not expired. */
const alive = (entries: readonly JournalEntry[], now: number): readonly JournalEntry[] => {
  const newest = new Map(entries.map((entry) => [nameOf(entry), entry]))
  return [...newest.values()].filter(({ until }) => until > now)
}

interface ReadJournal extends Pick<OpenedJournal, 'found'> {
  readonly entries: readonly JournalEntry[]
}

const readEntries = async (path: string): Promise<ReadJournal> => {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { entries: [], found: 'new' }
    throw error
  }
  const { texts, isTorn, damagedLine } = readCheckedLines(content)
  const [header, ...rest] = texts
  if (damagedLine !== undefined) throw damaged(path, `line ${damagedLine} is not what was written`)
  if (header !== HEADER) throw damaged(path, 'it does not begin like a journal of this version')
  return { entries: rest.flatMap(readLine), found: isTorn ? 'torn' : 'whole' }
}

const damaged = (path: string, why: string): StartError =>
  new StartError(
    `the journal ${path} is damaged: ${why}. Without it, what was revoked or used would count again: restore ` +
      'it from a backup; or move it away, to start without what it held, and revoke again what must stay revoked',
  )

/** The checksum says that they are what this version has written. */
const readLine = (text: string): readonly JournalEntry[] => JSON.parse(text) as JournalEntry[]
