// Each row of docs/operations/failure-matrix.md names a test that is there, and the pages of operations name metrics
// that the operator has.

import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { guideOf, textOf } from '../support/pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = guideOf('operations')
const MATRIX = textOf('docs/operations/failure-matrix.md')
const ROWS = [
  ...MATRIX.matchAll(
    /^\| (.+?) \| .+? \| \[.+?\]\(\.\.\/\.\.\/(test\/.+?\.test\.ts)\)(?:: (.+?))? \|$/gm,
  ),
].map(([, fault = '', file = '', name = '']) => ({ fault, file, name }))

it('has a row for each fault', () => {
  const [matrix = ''] = MATRIX.split('## Not there')
  expect(matrix.split('\n').filter((line) => line.startsWith('| '))).toHaveLength(ROWS.length + 1)
  expect(ROWS.length).toBeGreaterThan(20)
})

it.each(ROWS)('$fault: its test is there', async ({ file, name }) => {
  await access(join(ROOT, file))
  expect(await readFile(join(ROOT, file), 'utf8')).toContain(name)
})

it('names metrics that there are', async () => {
  const sources = await Promise.all(
    ['operator/metrics.ts', 'operator/metrics-kubernetes.ts'].map((file) =>
      readFile(join(ROOT, file), 'utf8'),
    ),
  )
  const named = [...PAGE.matchAll(/`(svc_operator_[a-z_]+)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(5)
  for (const name of named) expect(sources.join('')).toContain(`'${name}'`)
})
