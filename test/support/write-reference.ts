// Writes the tables of docs/reference/ anew; a test compares them with the schemas.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderTables } from './reference-tables.ts'

const root = join(import.meta.dirname, '../..')
for (const name of ['document', 'realm']) {
  const path = join(root, `docs/reference/${name}.md`)
  writeFileSync(path, renderTables(readFileSync(path, 'utf8')))
}
