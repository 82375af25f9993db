// What documents retain, in bytes: with a wide margin, as the heap is never the same twice.

import { expect, it } from '@jest/globals'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  prepareOperation,
  type PreparedOperation,
} from '../../../dataplane/http/prepared-operation.ts'
import { compileDocument } from '../../../dataplane/store/validate-document.ts'
import { createTableServing } from '../../../dataplane/store/table-serving.ts'
import type { PackedDocument } from '../../../dataplane/store/packed-document.ts'
import { match } from '../../../language/router/match.ts'
import { manyDocument } from '../../bench/documents.ts'
import { settled } from '../../support/settled.ts'

const DOCUMENTS = 200
const PATHS = 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use; references that were just looked at live to the end of their turn. */
const bytesInUse = async (): Promise<number> => {
  await settled()
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const realm = { authmethods: [], oidcProviders: [] }

const packMany = (from: number): readonly PackedDocument[] =>
  Array.from({ length: DOCUMENTS }, (_, index) => {
    const task = { document: manyDocument(from + index), realm }
    const result = compileDocument(task, { maxRoutes: 20_000 })
    if (!result.ok) throw new Error(JSON.stringify(result.problems))
    return result.packed
  })

it('an idle document of 20 paths serves from 25 KB at most, an operation in use from 2 KB', async () => {
  const serving = createTableServing<PreparedOperation>(
    { put: () => undefined, delete: () => undefined },
    () => Promise.resolve(),
  )
  const load = (from: number): Promise<void> =>
    serving.apply({ put: packMany(from), remove: [], realms: { put: [], delete: [] } })
  const row = { observe: () => undefined }
  const use = (from: number): void => {
    for (let index = from; index < from + DOCUMENTS; index++)
      for (let path = 0; path < PATHS; path++) {
        const found = match(serving.table(), `host-${index}.bench.test`, `/v1/resource-${path}/7`)
        const target = typeof found === 'object' ? found.candidates[0]?.target : undefined
        const slot = target?.kind === 'path' ? target.operations.get : undefined
        if (slot === undefined) throw new Error('not found')
        slot.prepared = prepareOperation(slot, {
          createPerformer: () => () => undefined,
          rowFor: () => row,
        })
      }
  }
  // What is made once, by the first of them.
  await load(0)
  use(0)
  const before = await bytesInUse()
  await load(DOCUMENTS)
  const loaded = await bytesInUse()
  use(DOCUMENTS)
  const used = await bytesInUse()
  expect((loaded - before) / DOCUMENTS).toBeLessThan(20_000)
  expect((used - loaded) / (DOCUMENTS * PATHS)).toBeLessThan(1200)
  // And so that it can fail: both are measured.
  expect(loaded - before).toBeGreaterThan(DOCUMENTS * 1000)
  expect(used - loaded).toBeGreaterThan(DOCUMENTS * PATHS * 300)
})
