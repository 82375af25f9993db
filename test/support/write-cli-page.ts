// Writes docs/cli.md and the schema for editors anew; tests compare them with what they are made of.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestSchema } from '../../cli/editor/manifest-schema.ts'
import { renderCliPage } from './cli-page.ts'

const root = join(import.meta.dirname, '../..')
writeFileSync(join(root, 'docs/cli.md'), await renderCliPage())
writeFileSync(
  join(root, 'dev/manifest.schema.json'),
  `${JSON.stringify(manifestSchema(), null, 2)}\n`,
)
