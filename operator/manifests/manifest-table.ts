// Makes one cache of resources after another from the files. Gives resources what an API server would: an identity, a
// generation, an age; keeps what a file said before while some of it can't be read.

import { isSameMap } from '../../base/same-entries.ts'
import { digestOf } from '../../language/wire/digest.ts'
import { isMap, type Value } from '../../language/expression/value.ts'
import { measure } from '../../language/measure.ts'
import { readResource } from '../resource/read-resource.ts'
import { keyOf, type Origin, type Resource } from '../resource/resource.ts'
import { EMPTY_CACHE, type ResourceCache, type SourceNote } from '../resource/resource-source.ts'
import type { ManifestEntry, ReadManifest } from './read-manifest.ts'

/** Without the map from pointers to lines, which keeps the whole syntax tree. */
export type TableEntry = Pick<ManifestEntry, 'value' | 'resource'>

/** A file as it was read last. */
export interface ManifestFile {
  readonly path: string
  /** Identifies its content in versions of resources. */
  readonly changedAt: string
  readonly read: Pick<ReadManifest, 'notes' | 'problems'> & {
    readonly entries: readonly TableEntry[]
  }
}

export interface TableUpdate {
  readonly cache: ResourceCache
  /** Something is missing and may be back in a moment: call again after this time. */
  readonly askAgainMs?: number
}

/** A file that is being written, or moved, may lack some of its content for a moment. */
const SETTLE_MS = 300

interface Known {
  /** For the same entry, its content need not be compared again. */
  readonly entry: TableEntry
  readonly resource: Resource
  readonly content: string
  readonly spec: string
}

export class ManifestTable {
  readonly #known = new Map<string, Known>()
  /** Path → what the file said when all of it could be read last, and what was read of it since. */
  readonly #lastGood = new Map<string, readonly TableEntry[]>()
  readonly #missingSince = new Map<string, number>()
  #cache: ResourceCache = EMPTY_CACHE

  get cache(): ResourceCache {
    return this.#cache
  }

  /**
   * @param files all of them, by path
   * @param hold why nothing may be deleted, as far as the directory shows
   */
  update(files: readonly ManifestFile[], hold: string | undefined, nowMs: number): TableUpdate {
    const notes: SourceNote[] = []
    const found = this.#collect(files, notes)
    const resources = new Map<string, Resource>()
    for (const [key, { entry, file }] of found)
      resources.set(key, this.#identify(key, entry, file, nowMs))
    const askAgainMs = this.#linger(resources, nowMs)
    this.#remember(files)
    const unread = hold ?? this.#unreadable(files)
    this.#publish(resources, notes, unread)
    this.#forgetFiles(files)
    return askAgainMs === undefined ? { cache: this.#cache } : { cache: this.#cache, askAgainMs }
  }

  /** Why nothing may be deleted; the resources stay as they are. */
  hold(reason: string): ResourceCache {
    const note: SourceNote = { severity: 'error', message: reason }
    this.#publish(this.#cache.resources, [note, ...this.#cache.notes.filter(isOfFile)], reason)
    return this.#cache
  }

  #collect(
    files: readonly ManifestFile[],
    notes: SourceNote[],
  ): ReadonlyMap<string, { readonly entry: TableEntry; readonly file: ManifestFile }> {
    const found = new Map<string, { readonly entry: TableEntry; readonly file: ManifestFile }>()
    for (const file of files) {
      for (const entry of file.read.entries) {
        const key = keyOf(entry.resource)
        const other = found.get(key)
        if (other === undefined) found.set(key, { entry, file })
        else notes.push(duplicate(entry, other.entry))
      }
      this.#noteProblems(file, notes)
    }
    // What a file said before counts where no file says anything else.
    for (const file of files)
      for (const entry of this.#kept(file)) {
        const key = keyOf(entry.resource)
        if (!found.has(key)) found.set(key, { entry, file })
      }
    return found
  }

  #noteProblems(file: ManifestFile, notes: SourceNote[]): void {
    const { path, read } = file
    notes.push(...read.notes)
    const isKept = this.#lastGood.has(path)
    const kept = isKept ? '; its last good content is kept until it is fixed' : ''
    for (const problem of read.problems)
      notes.push({ ...problem, message: `${problem.message}${kept}` })
  }

  /** What is not in the file now, and may be what can't be read of it. */
  #kept({ path, read }: ManifestFile): readonly TableEntry[] {
    if (read.problems.length === 0) return []
    const now = new Set(read.entries.map(({ resource }) => keyOf(resource)))
    return (this.#lastGood.get(path) ?? []).filter(({ resource }) => !now.has(keyOf(resource)))
  }

  /** The same object as before where nothing changed. */
  #identify(key: string, entry: TableEntry, file: ManifestFile, nowMs: number): Resource {
    const before = this.#known.get(key)
    if (before?.entry === entry) return before.resource
    const known =
      before === undefined ? firstSeen(key, entry, file, nowMs) : seenAgain(before, entry, file)
    this.#known.set(key, known)
    return known.resource
  }

  /** Keeps for a moment what has just disappeared. */
  #linger(resources: Map<string, Resource>, nowMs: number): number | undefined {
    let askAgainMs: number | undefined
    for (const [key, { resource }] of this.#known) {
      if (resources.has(key)) {
        this.#missingSince.delete(key)
        continue
      }
      const sinceMs = this.#missingSince.get(key) ?? nowMs
      this.#missingSince.set(key, sinceMs)
      const leftMs = sinceMs + SETTLE_MS - nowMs
      if (leftMs > 0) {
        resources.set(key, resource)
        askAgainMs = Math.max(askAgainMs ?? 0, leftMs)
      } else {
        this.#known.delete(key)
        this.#missingSince.delete(key)
      }
    }
    return askAgainMs
  }

  /** A file that was read while it was written still counts with what has just disappeared from it. */
  #remember(files: readonly ManifestFile[]): void {
    for (const file of files) {
      const { path, read } = file
      const before = this.#lastGood.get(path)
      if (read.problems.length > 0) {
        // One that was never read whole may define anything else.
        if (before !== undefined) this.#lastGood.set(path, [...read.entries, ...this.#kept(file)])
        continue
      }
      const gone = before?.filter(({ resource }) => this.#missingSince.has(keyOf(resource))) ?? []
      this.#lastGood.set(path, gone.length === 0 ? read.entries : [...read.entries, ...gone])
    }
  }

  /** A file that could never be read may define anything. */
  #unreadable(files: readonly ManifestFile[]): string | undefined {
    const file = files.find(
      ({ path, read }) => read.problems.length > 0 && !this.#lastGood.has(path),
    )
    if (file === undefined) return undefined
    const what = file.read.entries.length > 0 ? `some of ${file.path}` : file.path
    return `${what} can't be read, so its resources are not known: fix or remove it`
  }

  #publish(
    resources: ReadonlyMap<string, Resource>,
    notes: readonly SourceNote[],
    holdDeletes: string | undefined,
  ): void {
    const before = this.#cache
    const isSame =
      before.holdDeletes === holdDeletes &&
      isSameMap(before.resources, resources) &&
      JSON.stringify(before.notes) === JSON.stringify(notes)
    // The first cache counts as a change even if it is empty.
    if (isSame && before.version > 0) return
    const version = before.version + 1
    this.#cache = { version, resources, notes, ...(holdDeletes !== undefined && { holdDeletes }) }
  }

  #forgetFiles(files: readonly ManifestFile[]): void {
    const paths = new Set(files.map(({ path }) => path))
    for (const path of this.#lastGood.keys()) if (!paths.has(path)) this.#lastGood.delete(path)
  }
}

const firstSeen = (key: string, entry: TableEntry, file: ManifestFile, nowMs: number): Known => {
  const metadata = {
    uid: `manifest:${key}`,
    // Not made of the content, since a version stands for secrets in digests.
    resourceVersion: file.changedAt,
    generation: 1,
    createdAt: nowMs,
  }
  return { entry, resource: resourceOf(entry, metadata), ...contentsOf(entry, file) }
}

const seenAgain = (before: Known, entry: TableEntry, file: ManifestFile): Known => {
  const contents = contentsOf(entry, file)
  const isSame = contents.content === before.content
  const hasMoved = !sameOrigin(before.resource.origin, entry.resource.origin)
  if (isSame && !hasMoved) return { ...before, entry }
  const { metadata } = before.resource
  const resource = resourceOf(entry, {
    uid: metadata.uid,
    resourceVersion: isSame ? metadata.resourceVersion : file.changedAt,
    generation: metadata.generation + (contents.spec === before.spec ? 0 : 1),
    createdAt: metadata.createdAt,
  })
  return { entry, resource, ...contents }
}

const contentsOf = (
  { value, resource }: TableEntry,
  { path, changedAt }: ManifestFile,
): Pick<Known, 'content' | 'spec'> => {
  const fallback = `${path} ${changedAt} ${String(resource.origin?.line)}:${String(resource.origin?.column)}`
  return { content: contentOf(value, fallback), spec: contentOf(specOf(value), fallback) }
}

const resourceOf = (
  { value, resource }: TableEntry,
  known: Parameters<typeof readResource>[1],
): Resource => {
  const read = readResource(value, known, resource.origin)
  // It was read before, and its content is the same.
  return read.result === 'resource' ? read.resource : resource
}

const isOfFile = ({ origin }: SourceNote): boolean => origin !== undefined

const duplicate = ({ resource }: TableEntry, first: TableEntry): SourceNote => {
  const { namespace, name } = resource.metadata
  const { file = '', line = 0 } = first.resource.origin ?? {}
  return {
    severity: 'error',
    message: `${resource.kind} ${namespace}/${name} is defined in ${file}:${line} already: this one is ignored`,
    ...(resource.origin !== undefined && { origin: resource.origin }),
    resource: `${resource.kind} ${namespace}/${name}`,
  }
}

const sameOrigin = (left: Origin | undefined, right: Origin | undefined): boolean =>
  left?.file === right?.file && left?.line === right?.line && left?.column === right?.column

/** A digest, where the value is small enough to have one: aliases can make it boundless. */
const contentOf = (value: unknown, fallback: string): string =>
  measure(value).length === 0 ? digestOf(value as Value) : fallback

/** Everything that a generation counts: all but the fields that an API server manages itself. */
const specOf = (value: unknown): unknown => {
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => name !== 'metadata' && name !== 'status'),
  )
}
