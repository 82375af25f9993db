// Reads the files that show an OpenAPI description to people: those of Swagger UI, as its package has them. They are read
// at the first request for one, and are one copy for all documents of a process.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { DocsFile } from '../language/compile/action.ts'

/** @example readDocsFile('swagger-ui.css').length // 187956 */
export const readDocsFile = (name: DocsFile): Buffer => {
  const known = read.get(name)
  if (known !== undefined) return known
  const bytes = readFileSync(pathOf(name))
  read.set(name, bytes)
  return bytes
}

const read = new Map<DocsFile, Buffer>()

/** `npm run build` copies them to where the programs are, as their package is for developers alone. */
const pathOf = (name: DocsFile): string => {
  const built = join(import.meta.dirname, 'swagger-ui', name)
  return existsSync(built)
    ? built
    : createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
}
