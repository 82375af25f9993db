// The reference of the WAMP calls: one process with autobahn as it comes, 64 calls in flight, no HTTP.

import { connectAutobahn } from '../../../dev/router/autobahn-client.ts'
import { CONNECTIONS } from '../bench.ts'
import { offerRuns } from '../run-on-demand.ts'
import { autobahnOptions } from '../autobahn-options.ts'
import { PROCEDURE } from '../wamp-documents.ts'
import type { Loaded } from '../wrk.ts'

const [port, router = '', realm = ''] = process.argv.slice(2)
const { session } = await connectAutobahn(router, realm, autobahnOptions(router))

const callUntil = async (endMs: number): Promise<number> => {
  let calls = 0
  while (performance.now() < endMs) {
    await session.call(PROCEDURE, ['7'])
    calls += 1
  }
  return calls
}

offerRuns(Number(port), async (seconds): Promise<Loaded> => {
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => callUntil(endMs)))
  return {
    requests: counts.reduce((total, count) => total + count, 0),
    seconds: (performance.now() - startMs) / 1000,
    p50Ms: NaN,
    p99Ms: NaN,
    socketErrors: 0,
  }
})
