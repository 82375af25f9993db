// How long a match takes, in this process: the number of documents in, nanoseconds per match out, as JSON
// on stdout. Hosts and paths are drawn at random and, as from a socket, are texts never seen before.

import { compile } from '../../../language/compile.ts'
import { parseHost } from '../../../language/routes/host-pattern.ts'
import { match } from '../../../language/router/match.ts'
import type { RouteTable } from '../../../language/router/route-table.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import type { PackedDocument } from '../../../dataplane/store/packed/packed-document.ts'
import { createTableServing } from '../../../dataplane/store/table-serving.ts'
import { manyDocument } from '../documents.ts'
import { median } from '../statistics.ts'

const [documents, passes] = [Number(process.argv[2]), Number(process.argv[3])]
const MATCHES = 200_000
const PATHS = 20

/** Compiled once, the others are it under other names: it is the table that counts here. */
const packAll = (): readonly PackedDocument[] => {
  const outcome = compile(manyDocument(0), {
    realm: () => ({ authmethods: [], oidcProviders: [] }),
  })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const first = packDocument(outcome.compiled, { since: 0, rank: 1 })
  return Array.from({ length: documents }, (_, index) => {
    const parsed = parseHost(`host-${index}.bench.test`)
    if (!parsed.ok) throw new Error(parsed.message)
    return { ...first, id: `bench.${index}`, hosts: parsed.hosts }
  })
}

const fresh = (text: string): string => Buffer.from(text).toString('latin1')
const draw = (count: number): number => Math.floor(Math.random() * count)

/** @returns nanoseconds per match */
const timePass = (table: RouteTable<unknown>): number => {
  const requests = Array.from({ length: MATCHES }, () => ({
    host: fresh(`host-${draw(documents)}.bench.test`),
    path: fresh(`/v1/resource-${draw(PATHS)}/${draw(1e6)}`),
  }))
  const startedMs = performance.now()
  let found = 0
  for (const { host, path } of requests) {
    const hit = match(table, host, path)
    if (typeof hit === 'object') found += hit.captures.length
  }
  const spentMs = performance.now() - startedMs
  if (found !== MATCHES) throw new Error(`${found} of ${MATCHES} matched`)
  return (spentMs * 1e6) / MATCHES
}

const serving = createTableServing({ put: () => undefined, delete: () => undefined }, () =>
  Promise.resolve(),
)
await serving.apply({ put: packAll(), remove: [], realms: { put: [], delete: [] } })
timePass(serving.table())
const nanoseconds = median(Array.from({ length: passes }, () => timePass(serving.table())))
process.stdout.write(JSON.stringify({ nanoseconds }))
