// Finds the version and the commit of the package that a source or built file belongs to.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Walks up from `folder` to the nearest package.json, so that it works from source and from `dist/`. */
export const readVersion = (folder: string = import.meta.dirname): string => {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) {
    const parent = dirname(folder)
    return parent === folder ? 'unknown' : readVersion(parent)
  }
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const version = (content as { readonly version?: unknown }).version
  return typeof version === 'string' ? version : 'unknown'
}

/** The commit that `npm run build` built; `from source` where nothing was built. */
export const readRevision = (folder: string = import.meta.dirname): string => {
  const file = join(dirname(folder), 'revision')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'from source'
}
