// Finds the pages of the documentation, wherever in docs/ they are, and reads them.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

const pagesBelow = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return pagesBelow(path)
    return path.endsWith('.md') ? [path] : []
  })

/** Every page that people read, by its path from the root. */
export const PAGES: readonly string[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  'helm/svc-gateway/README.md',
  ...pagesBelow('docs'),
]

export const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8')

/** Pages of one subject: the overview `docs/NAME.md`, then those in `docs/NAME/`. */
export const pagesOf = (name: string): readonly string[] => [
  `docs/${name}.md`,
  ...(existsSync(join(ROOT, 'docs', name)) ? pagesBelow(`docs/${name}`) : []),
]

/** The text of all pages of one subject. */
export const guideOf = (name: string): string => pagesOf(name).map(textOf).join('\n')
