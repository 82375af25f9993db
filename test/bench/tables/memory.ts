// The table of what documents take: memory of a gateway that holds none, many, and many that have all been
// asked for.

import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import type { Bench } from '../bench.ts'
import { manyDocument } from '../documents.ts'
import { type Gateway, loadUnmanaged, startGateway } from '../gateway.ts'
import { type Inspector, openInspector } from '../inspector.ts'
import { readFigures } from '../process-figures.ts'
import { requestEach } from '../request-each.ts'
import { atMost, fixed, type Section } from '../section.ts'
import { withServers } from '../server-process.ts'

const DOCUMENTS = 1000
const PATHS = 20
const SETTLE_MS = 1000
const AFTER_LOAD_MS = 20_000

/** MB. */
interface Held {
  readonly state: string
  readonly rss: number
  readonly rssCollected: number
  readonly heapCollected: number
}

export const measureMemory = (bench: Bench): Promise<Section> =>
  withServers(bench.machine, async (start) => {
    const port = await freePort()
    const gateway = await startGateway(start, { nodeFlags: [`--inspect-port=127.0.0.1:${port}`] })
    await sleep(SETTLE_MS)
    const idleRss = rssOf(gateway)
    using inspector = await openInspector(gateway.pid, port)
    const idle: Held = { ...(await look('idle', gateway, inspector)), rss: idleRss }
    bench.progress('memory: loading 1,000 documents')
    await loadUnmanaged(
      gateway,
      Array.from({ length: DOCUMENTS }, (_, index) => manyDocument(index)),
    )
    await sleep(AFTER_LOAD_MS)
    const loaded = await look('1,000 documents loaded', gateway, inspector)
    bench.progress('memory: requesting every operation once')
    await requestEach(gateway.url, { documents: DOCUMENTS, paths: PATHS })
    await sleep(SETTLE_MS)
    const used = await look('every operation requested once', gateway, inspector)
    return sectionOf(idle, [loaded, used])
  })

/** Found by comparing heap snapshots of a gateway before and after. */
const WHAT_A_ROUTE_TAKES =
  '5,000 documents of one path each, as in the published benchmark of routes, take 36 to 43 MB of RSS: 3.2 KB of heap each (0.8 KB of texts, 0.55 KB in ten lists, 0.3 KB in maps, 0.3 KB in tries, 1.2 KB in objects), and some 20 MB, however many they are, that the compilers of V8 have freed and malloc does not give back.'

const rssOf = ({ pid }: Gateway): number => readFigures(pid).rssMegabytes

const look = async (state: string, gateway: Gateway, inspector: Inspector): Promise<Held> => {
  const rss = rssOf(gateway)
  const heapCollected = await inspector.collect()
  await sleep(SETTLE_MS)
  return { state, rss, rssCollected: rssOf(gateway), heapCollected }
}

const sectionOf = (idle: Held, later: readonly Held[]): Section => {
  const growth = later.map(({ state, rss, rssCollected, heapCollected }): Held => ({
    state: `more than idle: ${state}`,
    rss: rss - idle.rss,
    rssCollected: rssCollected - idle.rssCollected,
    heapCollected: heapCollected - idle.heapCollected,
  }))
  const [loaded] = growth
  return {
    title: 'Memory',
    method:
      'One gateway process, MB of 2^20 bytes: as it stands a second after the work, 20 seconds after the load, and after the garbage of the work has been collected. 1,000 documents of 20 paths, each path a body of ten expressions (9 MB of JSON); `requested` means 20,000 requests.',
    tables: [
      {
        head: ['', 'RSS', 'RSS, collected', 'heap in use, collected'],
        rows: [idle, ...later, ...growth].map((held) => [
          held.state,
          ...[held.rss, held.rssCollected, held.heapCollected].map((megabytes) =>
            fixed(megabytes, 1),
          ),
        ]),
      },
    ],
    targets: [
      atMost('idle, RSS', { bound: 85, measured: idle.rss, unit: ' MB', digits: 0 }),
      atMost('1,000 documents, RSS after collection', {
        bound: 40,
        measured: loaded?.rssCollected ?? NaN,
        unit: ' MB',
        digits: 0,
      }),
      atMost('1,000 documents, RSS 20 s after the load', {
        bound: 60,
        measured: loaded?.rss ?? NaN,
        unit: ' MB',
        digits: 0,
      }),
    ],
    remarks: [WHAT_A_ROUTE_TAKES],
  }
}
