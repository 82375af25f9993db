// Stores what is loaded in a directory: a change is durable when `save` resolves to true, and `load` returns
// everything at the start. A kill at any moment leaves the state before or after a change, never half of it, and no
// file that is found there stops the process.

import { inParallel } from '../../base/in-parallel.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Changes } from './draft.ts'
import type { Ownership } from './loaded-content.ts'
import { type SnapshotFiles, TEMPORARY } from './snapshot-files.ts'
import { readIndex, type SnapshotIndex, writeIndex } from './snapshot-index.ts'
import { fileOf, isEntryFileName, readEntryFile, type StoredEntry } from './snapshot-record.ts'

export interface SnapshotContents extends Ownership {
  readonly entries: readonly StoredEntry[]
  /** Everything that the index names was there and undamaged. */
  readonly isIntact: boolean
}

export interface SnapshotOptions {
  readonly files: SnapshotFiles
  readonly log: Log
  /** Unix time, milliseconds; part of the names of files that are set aside. */
  readonly now: () => number
}

const INDEX = 'index'
const DAMAGED = '.damaged-'
/** libuv has four threads, which DNS and scrypt share; more would only queue. */
const PARALLEL = 4

export class Snapshot {
  readonly #files: SnapshotFiles
  readonly #log: Log
  readonly #now: () => number
  /** The file of each entry that the index on disk names. */
  #names = new Map<string, string>()
  /** Entries that are not on disk yet: the last change, and earlier ones that could not be written. */
  readonly #pending = new Map<string, StoredEntry | null>()
  #sweeping: Promise<void> = Promise.resolve()

  constructor({ files, log, now }: SnapshotOptions) {
    this.#files = files
    this.#log = log
    this.#now = now
  }

  /** Never rejects for what a file holds; rejects when the directory itself cannot be listed. */
  async load(): Promise<SnapshotContents> {
    const names = await this.#files.list()
    const index = await this.#readIndex(names)
    const wanted = index?.files ?? names.filter(isEntryFileName)
    const found = new Map<string, { readonly name: string; readonly entry: StoredEntry }>()
    let isIntact = index !== undefined
    await inParallel(wanted, PARALLEL, async (name) => {
      const entry = await this.#readEntry(name)
      if (entry === undefined) isIntact = false
      else keepNewest(found, name, entry)
    })
    await this.#tidy(names, new Set(wanted))
    this.#names = new Map([...found].map(([key, { name }]) => [key, name]))
    return {
      manager: index?.manager ?? null,
      epoch: index?.epoch ?? 0,
      complete: (index?.complete ?? false) && isIntact,
      entries: [...found.values()].map(({ entry }) => entry),
      isIntact,
    }
  }

  /**
   * False if it could not be written (a full disk): it is remembered and written with the next save. One call at a
   * time.
   */
  async save({ documents, realms }: Changes, ownership: Ownership): Promise<boolean> {
    for (const [id, document] of documents)
      this.#pending.set(`spec\t${id}`, document && { kind: 'spec', document })
    for (const [uri, realm] of realms)
      this.#pending.set(`realm\t${uri}`, realm && { kind: 'realm', realm })
    try {
      await this.#sweeping
      await this.#write(ownership)
      return true
    } catch (error) {
      this.#log.warn('the snapshot could not be written; what is loaded is served nevertheless', {
        error,
        entries: this.#pending.size,
      })
      return false
    }
  }

  /** Resolves when removed files are gone too. */
  async close(): Promise<void> {
    await this.#sweeping
  }

  /** Removes an entry that is undamaged but cannot be used; its file stays, renamed. */
  async setAside(kind: StoredEntry['kind'], key: string, reason: string): Promise<void> {
    const name = this.#names.get(`${kind}\t${key}`)
    this.#names.delete(`${kind}\t${key}`)
    if (name !== undefined) await this.#setAsideFile(name, reason)
  }

  async #write(ownership: Ownership): Promise<void> {
    const next = new Map(this.#names)
    await inParallel([...this.#pending], PARALLEL, async ([key, entry]) => {
      next.delete(key)
      if (entry === null) return
      const { name, bytes } = fileOf(entry)
      if (this.#names.get(key) !== name) await this.#files.write(name, bytes)
      next.set(key, name)
    })
    // Entries before the index, durably: an index never names a file that a power cut can take.
    await this.#files.syncDirectory()
    const files = [...next.values()]
    await this.#files.write(INDEX, writeIndex({ ...ownership, files }))
    await this.#files.syncDirectory()
    const kept = new Set(files)
    const obsolete = [...this.#names.values()].filter((name) => !kept.has(name))
    this.#names = next
    this.#pending.clear()
    this.#sweeping = this.#remove(obsolete)
  }

  async #readIndex(names: readonly string[]): Promise<SnapshotIndex | undefined> {
    if (!names.includes(INDEX)) return undefined
    const index = readIndex(await this.#readOr(INDEX, Buffer.alloc(0)))
    if (index === undefined) await this.#setAsideFile(INDEX, 'the index is damaged')
    return index
  }

  async #readEntry(name: string): Promise<StoredEntry | undefined> {
    const bytes = await this.#readOr(name, undefined)
    if (bytes === undefined) return undefined
    const entry = readEntryFile(name, bytes)
    if (entry === undefined) await this.#setAsideFile(name, 'the file is damaged')
    return entry
  }

  async #readOr<T>(name: string, otherwise: T): Promise<Buffer | T> {
    try {
      return await this.#files.read(name)
    } catch (error) {
      this.#log.error('a file of the snapshot cannot be read', { file: name, error })
      return otherwise
    }
  }

  /** Removes leftovers of a kill, and renames unknown files, so that they are not mistaken for loaded entries. */
  async #tidy(names: readonly string[], wanted: ReadonlySet<string>): Promise<void> {
    const others = names.filter((name) => name !== INDEX && !wanted.has(name))
    const isLeftover = (name: string): boolean =>
      name.startsWith(TEMPORARY) || isEntryFileName(name)
    await this.#remove(others.filter(isLeftover))
    for (const name of others)
      if (!isLeftover(name) && !name.startsWith(DAMAGED))
        await this.#setAsideFile(name, 'the file is not a part of the snapshot')
  }

  async #setAsideFile(name: string, reason: string): Promise<void> {
    const to = `${DAMAGED}${this.#now()}-${name}`
    this.#log.warn('a file of the snapshot is set aside', { file: name, renamedTo: to, reason })
    try {
      await this.#files.rename(name, to)
    } catch (error) {
      this.#log.error('a file of the snapshot cannot be renamed', { file: name, error })
    }
  }

  /** A file that cannot be removed does no harm. */
  async #remove(names: readonly string[]): Promise<void> {
    await inParallel(names, PARALLEL, async (name) => {
      try {
        await this.#files.remove(name)
      } catch (error) {
        this.#log.warn('an obsolete file of the snapshot cannot be removed', { file: name, error })
      }
    })
  }
}

/** Without an index there may be two files for one entry: the later load wins. */
const keepNewest = (
  found: Map<string, { readonly name: string; readonly entry: StoredEntry }>,
  name: string,
  entry: StoredEntry,
): void => {
  const key = entry.kind === 'spec' ? `spec\t${entry.document.id}` : `realm\t${entry.realm.uri}`
  const other = found.get(key)
  if (other === undefined || loadedAt(entry) >= loadedAt(other.entry))
    found.set(key, { name, entry })
}

const loadedAt = (entry: StoredEntry): number => (entry.kind === 'spec' ? entry.document.ts : 0)
