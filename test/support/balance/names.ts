// Keeps the file of names that a program with `names-preload.ts` reads, and says how such a program is started.

import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** By name the addresses it stands for, or the code of the error that a lookup ends with. */
export type Names = Readonly<Record<string, readonly string[] | string>>

export const NAMES_FILE_VARIABLE = 'TEST_NAMES_FILE'

export interface NamesFile {
  /** For the program that is to know them. */
  readonly environment: Readonly<Record<string, string>>
  readonly set: (name: string, response: Names[string]) => Promise<void>
}

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'names-preload.ts')).href

export const writeNames = async (directory: string): Promise<NamesFile> => {
  const path = join(directory, 'names.json')
  let names: Names = {}
  let written = Promise.resolve()
  const write = async (): Promise<void> => {
    // A reader at this moment finds a whole one.
    await writeFile(`${path}.new`, JSON.stringify(names))
    await rename(`${path}.new`, path)
  }
  await write()
  return {
    environment: { NODE_OPTIONS: `--import=${PRELOAD}`, [NAMES_FILE_VARIABLE]: path },
    set: (name, response) => {
      names = { ...names, [name]: response }
      return (written = written.then(write))
    },
  }
}
