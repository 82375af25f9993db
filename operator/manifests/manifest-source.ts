// Watches a directory of the YAML one would `kubectl apply`, as the source of resources without Kubernetes. Reads only
// what changed; never writes.

import { join } from 'node:path'
import { messageOf } from '../../base/thrown.ts'
import type { Log } from '../../telemetry/log.ts'
import { keyOf } from '../resource/resource.ts'
import type { Locate, ResourceCache, ResourceSource } from '../resource/resource-source.ts'
import {
  type Changed,
  type DirectoryWatch,
  onlyManifests,
  watchDirectory,
} from './directory-watch.ts'
import { type ManifestFile, ManifestTable } from './manifest-table.ts'
import { type ReadManifest, readManifest, unreadable } from './read-manifest.ts'
import { readText } from './read-text.ts'
import { MAX_BYTES, MAX_FILES, type ScannedFile, scanDirectory, scanFile } from './scan.ts'

export interface ManifestOptions {
  readonly directory: string
  readonly log: Log
  readonly debounceMs?: number
  /** How often everything is read, as a watch may have missed something. */
  readonly rescanMs?: number
  readonly now?: () => number
}

interface KnownFile {
  readonly scanned: ScannedFile
  readonly file: ManifestFile
  readonly text: string
  /** What was parsed of `text`, with the whole syntax tree. */
  parsed?: WeakRef<ReadManifest>
}

const DEBOUNCE_MS = 100
const RESCAN_MS = 60_000

export class ManifestSource implements ResourceSource {
  readonly #options: Required<ManifestOptions>
  readonly #table = new ManifestTable()
  readonly #files = new Map<string, KnownFile>()
  #watch: DirectoryWatch | undefined
  #rescan: NodeJS.Timeout | undefined
  #askAgain: NodeJS.Timeout | undefined
  #onChange: () => void = () => undefined
  #isSynced = false
  #isStopped = false
  /** Scans one after another: two at once would undo each other. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: ManifestOptions) {
    this.#options = { debounceMs: DEBOUNCE_MS, rescanMs: RESCAN_MS, now: Date.now, ...options }
  }

  async start(onChange: () => void): Promise<void> {
    const { directory, debounceMs, rescanMs, log } = this.#options
    this.#onChange = onChange
    // Starts the watch first, so that a file that changes while we read is read again.
    this.#watch = await watchDirectory(directory, {
      debounceMs,
      onChange: (changed) => void this.#enqueue(changed),
      onError: (error) => {
        log.warn('the manifests cannot be watched, so they are read every minute only', { error })
      },
    })
    this.#rescan = setInterval(() => void this.#enqueue('everything'), rescanMs)
    await this.#enqueue('everything')
  }

  synced(): boolean {
    return this.#isSynced
  }

  current(): ResourceCache {
    return this.#table.cache
  }

  /** Where a value stands, as long as the file says what it said when the resource was read. */
  readonly locate: Locate = (resource, pointer, within) => {
    const known = [...this.#files.values()].find(({ file }) => file.path === resource.origin?.file)
    if (known === undefined) return undefined
    const read = known.parsed?.deref() ?? readManifest(known.text, known.scanned.path)
    known.parsed = new WeakRef(read)
    const key = keyOf(resource)
    return read.entries.find((entry) => keyOf(entry.resource) === key)?.positionOf(pointer, within)
  }

  async confirm(): Promise<boolean> {
    await this.#enqueue('everything')
    return this.current().holdDeletes === undefined
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#rescan)
    clearTimeout(this.#askAgain)
    await this.#watch?.stop()
    await this.#queue
  }

  #enqueue(changed: Changed): Promise<unknown> {
    this.#queue = this.#queue.then(() => (this.#isStopped ? undefined : this.#look(changed)))
    return this.#queue
  }

  async #look(changed: Changed): Promise<void> {
    const before = this.#table.cache
    const hold = changed === 'everything' ? await this.#lookAtAll() : await this.#lookAt(changed)
    if (hold?.gone === true) {
      this.#table.hold(hold.reason)
    } else {
      const files = [...this.#files.values()].map(({ file }) => file).sort(byPath)
      const update = this.#table.update(files, hold?.reason, this.#options.now())
      this.#lookAgain(update.askAgainMs)
    }
    if (this.#table.cache === before) return
    this.#isSynced = true
    this.#onChange()
  }

  /** Reads everything: the watch may not have reported yet where a missing resource is now. */
  #lookAgain(afterMs: number | undefined): void {
    clearTimeout(this.#askAgain)
    if (afterMs === undefined) return
    this.#askAgain = setTimeout(() => void this.#enqueue('everything'), afterMs + 1)
  }

  async #lookAtAll(): Promise<Hold | undefined> {
    const scan = await scanDirectory(this.#options.directory)
    if ('gone' in scan) {
      return {
        gone: true,
        reason: `${scan.gone}; what was read from it before stays in service until it is back`,
      }
    }
    if (scan.tooMuch !== undefined) {
      return { gone: true, reason: `${scan.tooMuch}: nothing new is read until there is less` }
    }
    const paths = new Set(scan.files.map(({ path }) => path))
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path)
    for (const scanned of scan.files) {
      if (this.#files.get(scanned.path)?.scanned.stamp !== scanned.stamp) await this.#read(scanned)
    }
    return undefined
  }

  async #lookAt(changed: ReadonlySet<string>): Promise<Hold | undefined> {
    for (const path of onlyManifests(changed)) {
      const scanned = await scanFile(this.#options.directory, path)
      if (scanned === undefined) this.#files.delete(path)
      else await this.#read(scanned)
    }
    const bytes = [...this.#files.values()].reduce((sum, { scanned }) => sum + scanned.bytes, 0)
    const isTooMuch = bytes > MAX_BYTES || this.#files.size > MAX_FILES
    // The full scan has the message for it; it also notices a directory that is gone.
    return isTooMuch || this.#files.size === 0 ? this.#lookAtAll() : undefined
  }

  async #read(scanned: ScannedFile): Promise<void> {
    const { directory } = this.#options
    const { path, changedAt } = scanned
    const shown = join(directory, path)
    const { text, read } = await readFileAs(shown)
    this.#files.set(path, { scanned, file: { path: shown, changedAt, read }, text })
  }
}

interface Hold {
  readonly reason: string
  /** The files can't be read now: what is known of them stays. */
  readonly gone: boolean
}

const readFileAs = async (
  path: string,
): Promise<{ readonly text: string; readonly read: ManifestFile['read'] }> => {
  try {
    const text = await readText(path)
    const { entries, notes, problems } = readManifest(text, path)
    const kept = entries.map(({ value, resource }) => ({ value, resource }))
    return { text, read: { entries: kept, notes, problems } }
  } catch (error) {
    const message = `can't be read: ${messageOf(error)}`
    const origin = { file: path, line: 1, column: 1 }
    return { text: '', read: unreadable({ severity: 'error', message, origin }) }
  }
}

const byPath = (left: ManifestFile, right: ManifestFile): number =>
  left.path < right.path ? -1 : 1
