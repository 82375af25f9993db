// The few things a snapshot does with a directory. Files are 0600, written beside their place and moved
// into it, so a reader never sees half of one. The interface is where tests make the disk fail.

import { constants, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface SnapshotFiles {
  list(): Promise<readonly string[]>
  read(name: string): Promise<Buffer>
  /** Durable (fsync) under its name, or not there at all. */
  write(name: string, bytes: Buffer): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** No error when it is gone already. */
  remove(name: string): Promise<void>
  /** Makes renames and removals durable. */
  syncDirectory(): Promise<void>
}

/** Begins the names of files in the making; what a killed process leaves of them is removed. */
export const TEMPORARY = '.tmp-'

/**
 * The directory `loaded` in the state directory, made (0700) when it is not there: a snapshot tidies up
 * what it finds beside its files, and others keep keys in the state directory. Rejects with the file
 * system's own error.
 */
export const openSnapshotFiles = async (stateDirectory: string): Promise<SnapshotFiles> => {
  const directory = join(stateDirectory, 'loaded')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const at = (name: string): string => join(directory, name)
  return {
    list: () => readdir(directory),
    // Without waiting: a pipe of that name, which nobody writes to, would hold up the start for ever.
    read: (name) => readFile(at(name), { flag: constants.O_RDONLY | constants.O_NONBLOCK }),
    write: async (name, bytes) => {
      const temporary = at(`${TEMPORARY}${name}`)
      const file = await open(temporary, 'w', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, at(name))
    },
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
