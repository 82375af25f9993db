// Measures what documents retain, in a process where nothing else comes and goes: a line of JSON says on stdout how many
// bytes so many documents have added, and how many more once each of their operations had been used.
//
// usage: node --expose-gc retained-memory-program.ts DOCUMENTS PATHS

import { argv, stdout } from 'node:process'
import {
  prepareOperation,
  type PreparedOperation,
} from '../../../dataplane/http/prepared-operation.ts'
import { compileDocument } from '../../../dataplane/store/change/validate-document.ts'
import { createTableServing } from '../../../dataplane/store/table-serving.ts'
import type { PackedDocument } from '../../../dataplane/store/packed/packed-document.ts'
import { match } from '../../../language/router/match.ts'
import { manyDocument } from '../../bench/documents.ts'
import { bytesInUse } from './bytes-in-use.ts'

export interface RetainedBytes {
  readonly loaded: number
  readonly used: number
}

const [documents = 0, paths = 0] = argv.slice(2).map(Number)

const realm = { authmethods: [], oidcProviders: [] }

const packMany = (from: number): readonly PackedDocument[] =>
  Array.from({ length: documents }, (_, index) => {
    const task = { document: manyDocument(from + index), realm }
    const result = compileDocument(task, { maxRoutes: 20_000 })
    if (!result.ok) throw new Error(JSON.stringify(result.problems))
    return result.packed
  })

const serving = createTableServing<PreparedOperation>(
  { put: () => undefined, delete: () => undefined },
  () => Promise.resolve(),
)
const load = (from: number): Promise<void> =>
  serving.apply({ put: packMany(from), remove: [], realms: { put: [], delete: [] } })
const row = { observe: () => undefined }
const use = (from: number): void => {
  for (let index = from; index < from + documents; index++)
    for (let path = 0; path < paths; path++) {
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
await load(documents)
const loaded = await bytesInUse()
use(documents)
const used = await bytesInUse()
stdout.write(
  `${JSON.stringify({ loaded: loaded - before, used: used - loaded } satisfies RetainedBytes)}\n`,
)
