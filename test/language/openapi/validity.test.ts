// Two validators accept the description of every example and of random documents: 100, and 1,000 where everything is tested.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, it } from '@jest/globals'
import { readDocuments } from '../../../cli/explain/read-documents.ts'
import { gatherFiles } from '../../../cli/validate/gather-files.ts'
import { foldDocument } from '../../../language/explain/fold-document.ts'
import type { CompiledApi } from '../../../language/compile/compiled.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { describeVersion } from '../../../language/openapi/describe-version.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { randomDocument } from './random-document.ts'
import { validateOpenApi } from './validate-openapi.ts'

const EXAMPLES = join(import.meta.dirname, '../../../examples')
const OPTIONS = { className: 'svc', maxRoutes: 20_000 }

const describeAll = (document: ValueMap, compiled: CompiledApi): readonly string[] =>
  compiled.versions.map((version) =>
    JSON.stringify(describeVersion(document, compiled, version, Infinity)),
  )

it('both validators accept the description of every example', async () => {
  const gathered = await gatherFiles([EXAMPLES], () => Promise.resolve(''))
  if ('error' in gathered) throw new Error(gathered.error)
  const { documents, leftOut } = readDocuments(gathered.files, OPTIONS)
  expect(leftOut).toEqual([])
  expect(documents.length).toBeGreaterThan(readdirSync(EXAMPLES).length - 5)
  for (const { document, compiled } of documents)
    for (const text of describeAll(document, compiled)) {
      const objections = await validateOpenApi(text)
      expect({ id: compiled.id, objections }).toEqual({ id: compiled.id, objections: [] })
    }
})

const COUNT = env['REQUIRE_REAL'] === '1' ? 1000 : 100

it('both validators accept the descriptions of random documents', async () => {
  const seed = Number(env['FC_SEED'] ?? 35)
  const random = seededRandom(seed)
  let described = 0
  while (described < COUNT) {
    const document = randomDocument(random)
    const folding = foldDocument(document, [])
    // Few are invalid: two of their paths are one.
    if ('problems' in folding) continue
    for (const text of describeAll(document, folding.compiled)) {
      described += 1
      const objections = await validateOpenApi(text)
      const shown = { seed, document: objections.length > 0 && JSON.stringify(document) }
      expect({ ...shown, objections }).toEqual({ seed, document: false, objections: [] })
    }
  }
  expect(described).toBe(COUNT)
}, 120_000)
