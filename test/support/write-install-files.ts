// Writes crds/ anew; a test compares it with the shapes and roles it is made of.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { renderInstallFiles } from './install-files.ts'

const root = join(import.meta.dirname, '../..')
rmSync(join(root, 'crds'), { recursive: true, force: true })
for (const [path, text] of renderInstallFiles()) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
