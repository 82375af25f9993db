// Measures what a store and what it serves retain of documents of one path, as an operator sends them, in a process where
// nothing else comes and goes: a line of JSON says on stdout how many bytes so many documents have added.
//
// usage: node --expose-gc retained-store-program.ts DOCUMENTS

import { argv, stdout } from 'node:process'
import { Store } from '../../../dataplane/store/store.ts'
import type { SyncCall } from '../../../dataplane/store/sync-call.ts'
import { createTableServing } from '../../../dataplane/store/table-serving.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { probeResource } from '../../bench/routes/documents.ts'
import { bytesInUse } from './bytes-in-use.ts'
import { realmPut, specPut } from './rig.ts'

const documents = Number(argv[2])
const DOCUMENTS_PER_CALL = 100
const SINCE = Date.UTC(2026, 0, 1)

const store = new Store({
  serving: createTableServing({ put: () => undefined, delete: () => undefined }, () =>
    Promise.resolve(),
  ),
  log: createSilentLog(),
  now: Date.now,
  bootId: 'boot',
  manager: 'op',
  allowUnmanaged: false,
})

/** Each has texts of its own, as what is parsed has. */
const documentAt = (index: number): ValueMap => {
  const { spec } = probeResource(index, 'http://127.0.0.1:8080') as { spec: { document: object } }
  return JSON.parse(JSON.stringify(spec.document)) as ValueMap
}

/** Not by the state view, whose text the store would retain. */
const sync = async (more: Partial<Pick<SyncCall, 'realms' | 'specs'>>): Promise<void> => {
  const none = { put: [], delete: [] }
  const call = { managedBy: 'op', epoch: 1, base: store.rootDigest, realms: none, specs: none }
  const result = await store.sync({ ...call, ...more })
  if (result.reason !== 'done' || result.items.some((item) => item.result !== 'loaded'))
    throw new Error(JSON.stringify(result))
}

const load = async (from: number, to: number): Promise<void> => {
  for (let first = from; first < to; first += DOCUMENTS_PER_CALL) {
    const put = Array.from({ length: DOCUMENTS_PER_CALL }, (_, place) => {
      const index = first + place
      const resource = `routes/probe-${index}`
      return specPut(documentAt(index), SINCE + index, { resource })
    })
    await sync({ specs: { put, delete: [] } })
  }
}

await sync({ realms: { put: [realmPut('routes')], delete: [] } })
// What is made once, by the first of them.
await load(0, documents)
const before = await bytesInUse()
await load(documents, 2 * documents)
stdout.write(`${JSON.stringify({ loaded: (await bytesInUse()) - before })}\n`)
// So that it lives to here.
store.touch()
