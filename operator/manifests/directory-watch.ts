// Watches a directory, or one file, and calls back after every change below it, with a debounce. Says what changed when only plain
// files did, so that nothing else need be read.

import { watch } from 'chokidar'
import { relative } from 'node:path'
import { isHidden, isManifestName } from './scan.ts'

/** Paths relative to the directory, or everything. */
export type Changed = ReadonlySet<string> | 'everything'

export interface DirectoryWatch {
  stop(): Promise<void>
}

export interface WatchOptions {
  /** Waits this long for more of the same. */
  readonly debounceMs: number
  readonly onChange: (changed: Changed) => void
  readonly onError: (error: unknown) => void
}

/** A steady stream of changes is reported at least this often. */
const MAX_WAIT_FACTOR = 5

export const watchDirectory = async (
  root: string,
  { debounceMs, onChange, onError }: WatchOptions,
): Promise<DirectoryWatch> => {
  let changed: Set<string> | 'everything' = new Set()
  let timer: NodeJS.Timeout | undefined
  let firstAtMs = 0

  const flush = (): void => {
    timer = undefined
    const now = changed
    changed = new Set()
    onChange(now)
  }
  const schedule = (): void => {
    const nowMs = performance.now()
    if (timer === undefined) firstAtMs = nowMs
    else if (nowMs - firstAtMs < MAX_WAIT_FACTOR * debounceMs) clearTimeout(timer)
    else return
    timer = setTimeout(flush, debounceMs)
  }
  const watcher = watch(root, { ignoreInitial: true })
  watcher.on('error', onError)
  watcher.on('all', (event, path) => {
    const name = relative(root, path)
    if (!isPlainFile(event, name)) changed = 'everything'
    else if (changed !== 'everything') changed.add(name)
    if (changed === 'everything' || changed.size > 0) schedule()
  })
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve)
  })
  return {
    stop: async () => {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

/** The root may be a file itself. A change in a hidden directory may change files that a link outside it shows (a mounted ConfigMap). */
const isPlainFile = (event: string, path: string): boolean => {
  if (event === 'addDir' || event === 'unlinkDir' || path === '') return false
  return !path.split('/').some(isHidden)
}

export const onlyManifests = (changed: ReadonlySet<string>): readonly string[] =>
  [...changed].filter((path) => isManifestName(path.split('/').at(-1) ?? ''))
