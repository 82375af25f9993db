// Stores the shared state of one machine in the state directory: entries are appended as JSON lines, read back at the
// start, and rewritten without those that have expired. A line that a crash has cut short is ignored.

import { mkdir, open, readFile, rename, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SerialQueue } from '../../base/serial-queue.ts'
import type { Journal, JournalEntry } from './memory-state.ts'

export interface OpenedJournal {
  readonly journal: Journal
  readonly restored: readonly JournalEntry[]
}

/** A journal this long is rewritten once half of its entries have expired or were replaced. */
const COMPACT_FROM_LINES = 10_000

/**
 * @param nowSeconds Unix time
 * Rejects with the file system's own error, or if the file is not a journal.
 */
export const openJournal = async (
  stateDirectory: string,
  nowSeconds: () => number,
): Promise<OpenedJournal> => {
  const path = join(stateDirectory, 'shared', 'journal')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const restored = alive(await readEntries(path), nowSeconds())
  const file = await rewrite(path, restored)
  return { journal: new FileJournal(path, file, restored, nowSeconds), restored }
}

class FileJournal implements Journal {
  readonly #path: string
  readonly #nowSeconds: () => number
  #file: FileHandle
  #lines: number
  /** From this many lines on it is checked how many are still valid. */
  #compactFrom: number
  /** The newest entry of each key, which a rewritten file contains. */
  readonly #current: Map<string, JournalEntry>
  #pending: string[] = []
  #writing: Promise<void> | undefined
  /** One write after the other; a failed one does not stop those behind it. */
  readonly #writes = new SerialQueue()

  constructor(
    path: string,
    file: FileHandle,
    entries: readonly JournalEntry[],
    nowSeconds: () => number,
  ) {
    this.#path = path
    this.#file = file
    this.#lines = entries.length
    this.#current = new Map(entries.map((entry) => [nameOf(entry), entry]))
    this.#compactFrom = this.#worthCompacting()
    this.#nowSeconds = nowSeconds
  }

  /** Entries of the same moment share one write and one sync. */
  append(entry: JournalEntry): Promise<void> {
    this.#current.set(nameOf(entry), entry)
    this.#pending.push(lineOf(entry))
    this.#writing ??= Promise.resolve().then(() => this.#write())
    return this.#writing
  }

  async close(): Promise<void> {
    await this.#writing?.catch(() => undefined)
    await this.#writes.idle()
    await this.#file.close()
  }

  async #write(): Promise<void> {
    const lines = this.#pending
    this.#pending = []
    this.#writing = undefined
    await this.#writes.run(async () => {
      // On a line of its own: a full disk may have cut the one before short.
      await this.#file.appendFile(`\n${lines.join('')}`)
      await this.#file.datasync()
      this.#lines += lines.length
      if (this.#lines >= this.#compactFrom) await this.#compact()
    })
  }

  async #compact(): Promise<void> {
    const now = this.#nowSeconds()
    for (const [name, { until }] of this.#current) if (until <= now) this.#current.delete(name)
    this.#compactFrom = this.#worthCompacting()
    if (this.#lines < this.#compactFrom) return
    const next = await rewrite(this.#path, [...this.#current.values()])
    await this.#file.close()
    this.#file = next
    this.#lines = this.#current.size
  }

  #worthCompacting(): number {
    return Math.max(COMPACT_FROM_LINES, 2 * this.#current.size)
  }
}

const nameOf = ({ kind, key }: JournalEntry): string => `${kind}\t${key}`

const lineOf = (entry: JournalEntry): string => `${JSON.stringify(entry)}\n`

/** The newest entry of each key, if it has not expired. */
const alive = (entries: readonly JournalEntry[], now: number): readonly JournalEntry[] => {
  const newest = new Map(entries.map((entry) => [nameOf(entry), entry]))
  return [...newest.values()].filter(({ until }) => until > now)
}

const readEntries = async (path: string): Promise<readonly JournalEntry[]> => {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => readLine(line) ?? [])
}

const readLine = (line: string): JournalEntry | undefined => {
  let entry: Partial<Record<'kind' | 'key' | 'value' | 'until', unknown>> | null
  try {
    entry = JSON.parse(line) as typeof entry
  } catch {
    return undefined
  }
  if (typeof entry?.key !== 'string' || typeof entry.until !== 'number') return undefined
  const { kind, key, value, until } = entry
  if (kind === 'revoked') return { kind, key, until }
  return kind === 'value' && typeof value === 'string' ? { kind, key, value, until } : undefined
}

/** Replaces the file durably, and opens the new one for appending. */
const rewrite = async (path: string, entries: readonly JournalEntry[]): Promise<FileHandle> => {
  const temporary = `${path}.tmp`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(entries.map(lineOf).join(''))
    await file.sync()
    await rename(temporary, path)
    return await open(path, 'a', 0o600)
  } finally {
    await file.close()
  }
}
