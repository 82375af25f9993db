// Watches files and passes their contents on whenever one of them changes. It polls contents rather than listening
// for events: Kubernetes replaces mounted Secrets by swapping a symlink, which file events miss.

import { readFileSync } from 'node:fs'
import { asError } from '../base/thrown.ts'

export interface FileWatch {
  /** Stops watching. */
  close(): void
}

export interface FileWatchOptions {
  readonly paths: readonly string[]
  /**
   * Called with the contents, in the order of `paths`: immediately if all can be read, then after each change. An
   * error that it throws is reported once, and the call is repeated when a file changes.
   */
  readonly onContents: (contents: readonly Buffer[]) => void
  /** The first failure after each success: a file is missing, or `onContents` threw. */
  readonly onFailure: (error: Error) => void
  readonly intervalMs?: number
}

/** The interval for files that never existed: something waits for them to appear. */
const AWAITED_MS = 250

/** Never keeps the process alive by itself. */
export const watchFiles = (options: FileWatchOptions): FileWatch => {
  const { paths, onContents, onFailure, intervalMs = 2000 } = options
  let last: readonly Buffer[] | undefined
  let failing = false

  const look = (): void => {
    try {
      const contents = paths.map((path) => readFileSync(path))
      if (last !== undefined && contents.every((content, index) => last?.[index]?.equals(content)))
        return
      // Stored before they are used: contents that are rejected are not tried again until they change.
      last = contents
      onContents(contents)
      failing = false
    } catch (error) {
      if (failing && isMissing(error)) return
      failing = true
      onFailure(asError(error))
    }
  }

  look()
  let timer: NodeJS.Timeout
  const lookLater = (): void => {
    const waitMs = last === undefined ? Math.min(AWAITED_MS, intervalMs) : intervalMs
    timer = setTimeout(() => {
      look()
      lookLater()
    }, waitMs).unref()
  }
  lookLater()
  return {
    close: () => {
      clearTimeout(timer)
    },
  }
}

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT'
