// Writes crds/ and what the chart is rendered from anew; a test compares them with the schemas and roles it is made of.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { INSTALL_FOLDERS, renderInstallFiles } from './install-files.ts'

const root = join(import.meta.dirname, '../..')
for (const folder of INSTALL_FOLDERS) rmSync(join(root, folder), { recursive: true, force: true })
for (const [path, text] of renderInstallFiles()) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
