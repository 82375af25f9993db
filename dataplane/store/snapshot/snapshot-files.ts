// Implements the file operations of a snapshot on a directory. Files are 0600, written under a temporary name and
// then renamed, so that a reader never sees half of one. Tests pass in an implementation of the interface whose disk
// fails.

import {
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
} from 'node:fs/promises'
import { join } from 'node:path'

export interface SnapshotFiles {
  list(): Promise<readonly string[]>
  read(name: string): Promise<Buffer>
  /** Writes a file durably (fsync), or leaves none under its name. */
  write(name: string, bytes: Buffer): Promise<void>
  /** Appends to a file durably (fsync). If it fails, or is killed, a part may have been appended. */
  append(name: string, bytes: Buffer): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** No error if it is gone already. */
  remove(name: string): Promise<void>
  /** Makes renames and removals durable. */
  syncDirectory(): Promise<void>
}

/** The prefix of files that are being written; those that a killed process leaves are removed. */
export const TEMPORARY = '.tmp-'

/**
 * Opens the directory `loaded` in the state directory, and creates it (0700) if it is not there. It is separate
 * because a snapshot removes unknown files beside its own, and the state directory also has keys. Rejects with the
 * file system's own error.
 */
export const openSnapshotFiles = async (stateDirectory: string): Promise<SnapshotFiles> => {
  const directory = join(stateDirectory, 'loaded')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const at = (name: string): string => join(directory, name)
  return {
    list: () => readdir(directory),
    // Without blocking: a pipe of that name without a writer would block the start for ever.
    read: (name) => readFile(at(name), { flag: constants.O_RDONLY | constants.O_NONBLOCK }),
    write: async (name, bytes) => {
      const temporary = at(`${TEMPORARY}${name}`)
      try {
        await writeDurably(await open(temporary, 'w', 0o600), bytes)
        await rename(temporary, at(name))
      } catch (error) {
        // Half of a file takes the room on a full disk that a smaller one would have.
        await rm(temporary, { force: true }).catch(() => undefined)
        throw error
      }
    },
    append: async (name, bytes) =>
      writeDurably(await open(at(name), constants.O_WRONLY | constants.O_APPEND), bytes),
    rename: (from, to) => rename(at(from), at(to)),
    remove: (name) => rm(at(name), { force: true }),
    syncDirectory: async () => {
      const handle = await open(directory, 'r')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
    },
  }
}

const writeDurably = async (file: FileHandle, bytes: Buffer): Promise<void> => {
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}
