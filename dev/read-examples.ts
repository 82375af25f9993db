// Reads what there is to try of each example: its title, its requests and its pages, from the comments of its file.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ManifestTries, readTries } from './manifest-tries.ts'

export interface Example extends ManifestTries {
  readonly file: string
}

/** In the order of their names. */
export const readExamples = async (directory: string): Promise<readonly Example[]> => {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.yaml')).sort()
  return Promise.all(
    files.map(async (file) => ({
      file,
      ...readTries(await readFile(join(directory, file), 'utf8')),
    })),
  )
}
