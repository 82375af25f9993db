// How long keeping decisions takes at the end of a request, in this process: the number of passes in, nanoseconds
// and bytes per request out, as JSON on stdout.

import type { IncomingMessage } from 'node:http'
import { compile } from '../../../language/compile.ts'
import type { IncomingRequest } from '../../../dataplane/http/incoming-request.ts'
import type { Served, PreparedOperation } from '../../../dataplane/http/prepared-operation.ts'
import type { TracedOperation } from '../../../dataplane/http/settlement.ts'
import { DecisionLog } from '../../../dataplane/http/decision-log.ts'
import { match } from '../../../language/router/match.ts'
import type { Identity } from '../../../dataplane/security/schemes/authentication.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { createTableServing } from '../../../dataplane/store/table-serving.ts'
import { readHead } from '../../../dataplane/http/request/head.ts'
import { manyDocument } from '../documents.ts'
import { median } from '../statistics.ts'

const passes = Number(process.argv[2])
const BENCH = { apiId: 'bench' }
const SUCCESSES = 10_000_000
const FAILURES = 100_000

const serving = createTableServing<PreparedOperation>(
  { put: () => undefined, delete: () => undefined },
  () => Promise.resolve(),
)
const outcome = compile(manyDocument(0), { realm: () => ({ authmethods: [], oidcProviders: [] }) })
if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
const packed = packDocument(outcome.compiled, { since: 0, rank: 1 })
await serving.apply({ put: [packed], remove: [], realms: { put: [], delete: [] } })
const host = packed.hosts[0]?.labels.join('.') ?? ''

const identity: Identity = {
  type: 'basic',
  realm_uri: 'com.acme',
  authid: 'alice',
  username: 'alice',
  authmethod: 'password',
  authroles: [],
  groups: [],
  client_id: '',
  session: '',
  scope: [],
  locale: '',
  meta: {},
  claims: {},
}

const arrivalAt = (url: string, id: string): Omit<IncomingRequest, 'response'> => {
  const rawHeaders = ['Host', host]
  const request = { method: 'GET', url, httpVersion: '1.1', headers: { host }, rawHeaders }
  const incoming = request as unknown as IncomingMessage
  const head = readHead(incoming)
  return { request: incoming, head, scheme: 'http', client: undefined, id, startedMs: 0, identity }
}

const found = match(serving.table(), host, '/v1/resource-0/1')
if (typeof found !== 'object') throw new Error('the path of the benchmark is not served')
const [candidate] = found.candidates
const operationOf = ({ version, template }: Served): TracedOperation => ({
  version,
  template,
  action: 'static',
})
if (candidate === undefined) throw new Error('a match has candidates')
const operation = operationOf(candidate.target)
const matched = arrivalAt('/v1/resource-0/1', '0199c6b2-7f04-7c1e-8a3b-5d1f0e9b2c44')
const unmatched = arrivalAt('/v1/resource-0/1/none', '0199c6b2-7f04-7c1e-8a3b-5d1f0e9b2c45')

const open = (): DecisionLog =>
  new DecisionLog({
    table: () => serving.table(),
    now: () => performance.now(),
    wallClock: Date.now,
    key: 'key',
    processId: 1,
  })

const SUCCESS = { status: 200, bytes: 10 }
const FAILURE = { status: 500, bytes: 10, refusal: 'svc.error.internal' } as const
const NOT_FOUND = { status: 404, bytes: 10, refusal: 'svc.error.not_found' } as const

/** Nanoseconds for one call. */
const timeOf = (count: number, call: () => void): number => {
  const once = (): number => {
    const startedMs = performance.now()
    for (let i = 0; i < count; i++) call()
    return ((performance.now() - startedMs) * 1e6) / count
  }
  // Fills the rings, and lets V8 compile.
  once()
  return median(Array.from({ length: passes }, once))
}

/** What `call` takes of the heap; reading it takes some itself. */
const bytesOf = (call: () => void): number => {
  const before = process.memoryUsage().heapUsed
  call()
  return process.memoryUsage().heapUsed - before
}

/** Between two samples, so that none of them is recorded. */
const UNRECORDED = 99

/** The bytes of a success that is not recorded. The least of several counts: others have what V8 does beside it. */
const bytesOfSuccess = (log: DecisionLog): number => {
  const counts = Array.from({ length: 20 }, () => {
    while (!log.keeps(SUCCESS, BENCH));
    return bytesOf(() => {
      for (let i = 0; i < UNRECORDED; i++) log.keeps(SUCCESS, BENCH)
    })
  })
  const reading = Array.from({ length: 20 }, () => bytesOf(() => undefined))
  return Math.max(0, Math.min(...counts) - Math.min(...reading)) / UNRECORDED
}

const log = open()
const success = timeOf(SUCCESSES, () => {
  if (log.keeps(SUCCESS, BENCH))
    log.record({ incomingRequest: matched, settlement: SUCCESS, seconds: 0.001, operation })
})
const record = (settlement: Parameters<DecisionLog['keeps']>[0]) => () => {
  log.record({ incomingRequest: matched, settlement, seconds: 0.001, operation })
}
const sampled = timeOf(FAILURES, record(SUCCESS))
const failure = timeOf(FAILURES, record(FAILURE))
const missed = timeOf(FAILURES, () => {
  log.record({ incomingRequest: unmatched, settlement: NOT_FOUND, seconds: 0.001 })
})
const successBytes = bytesOfSuccess(log)
process.stdout.write(JSON.stringify({ success, successBytes, sampled, failure, unmatched: missed }))
