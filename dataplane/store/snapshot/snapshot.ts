// Stores what is loaded in a directory: a change is durable when `save` resolves to true, and `load` returns
// everything at the start. A kill at any moment leaves the state before or after a change, never half of it, and no
// file that is found there stops the process.

import { inParallel } from '../../../base/in-parallel.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Changes, Ownership } from '../loaded-content.ts'
import { type SnapshotFiles, TEMPORARY } from './snapshot-files.ts'
import {
  type IndexChange,
  readIndex,
  type SnapshotIndex,
  writeChange,
  writeIndex,
} from './snapshot-index.ts'
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
/** The index gets lines for so many files before it is written whole, or for as many as it names. */
const FEWEST_APPENDED = 64
/** libuv has four threads, which DNS and scrypt share; more would only queue. */
const PARALLEL = 4

export class Snapshot {
  readonly #files: SnapshotFiles
  readonly #log: Log
  readonly #now: () => number
  /** The file of each entry that the index on disk names. */
  readonly #names = new Map<string, string>()
  /** How many files its lines name since it was written whole; undefined: it has to be written whole. */
  #appended: number | undefined
  /** Entries that are not on disk yet: the last change, and earlier ones that could not be written. */
  readonly #pending = new Map<string, StoredEntry | null>()
  /** Files that were written since the index was; it may name them, as it is not known what a failed write has left. */
  readonly #unconfirmed = new Set<string>()
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
    this.#names.clear()
    for (const [key, { name }] of found) this.#names.set(key, name)
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
    this.#appended = undefined
    if (name !== undefined) await this.#setAsideFile(name, reason)
  }

  async #write(ownership: Ownership): Promise<void> {
    const written = new Map<string, string>()
    await inParallel([...this.#pending], PARALLEL, async ([key, entry]) => {
      if (entry === null) return
      const { name, bytes } = fileOf(entry)
      if (this.#names.get(key) !== name) {
        this.#unconfirmed.add(name)
        await this.#files.write(name, bytes)
      }
      written.set(key, name)
    })
    const keys = [...this.#pending.keys()]
    const change = changeOf(keys, this.#names, written)
    // Entries before the index, durably: an index never names a file that a power cut can take.
    if (change.put.length > 0) await this.#files.syncDirectory()
    await this.#writeIndex(ownership, change)
    for (const key of keys) {
      const name = written.get(key)
      if (name === undefined) this.#names.delete(key)
      else this.#names.set(key, name)
    }
    this.#pending.clear()
    for (const name of written.values()) this.#unconfirmed.delete(name)
    this.#sweeping = this.#remove([...change.drop, ...this.#unconfirmed])
    this.#unconfirmed.clear()
  }

  /** In proportion to the change, over many of them. */
  async #writeIndex(ownership: Ownership, change: IndexChange): Promise<void> {
    const size = 1 + change.put.length + change.drop.length
    const appended = this.#appended === undefined ? Infinity : this.#appended + size
    // After a failure it is not known what the index has.
    this.#appended = undefined
    if (appended <= Math.max(FEWEST_APPENDED, this.#names.size)) {
      await this.#files.append(INDEX, writeChange({ ...ownership, ...change }))
      this.#appended = appended
      return
    }
    const dropped = new Set(change.drop)
    const kept = [...this.#names.values()].filter((name) => !dropped.has(name))
    await this.#files.write(INDEX, writeIndex({ ...ownership, files: [...kept, ...change.put] }))
    await this.#files.syncDirectory()
    this.#appended = 0
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

const changeOf = (
  keys: readonly string[],
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): IndexChange => {
  const changed = keys.filter((key) => before.get(key) !== after.get(key))
  const namesIn = (names: ReadonlyMap<string, string>): readonly string[] =>
    changed.flatMap((key) => names.get(key) ?? [])
  return { put: namesIn(after), drop: namesIn(before) }
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
