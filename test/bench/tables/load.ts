// The table of loading many documents into a gateway that serves: how long it takes by either way in, and
// what the requests feel meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import { digestOf, rootDigest, type LoadedEntry } from '../../../language/wire/digest.ts'
import type { Value } from '../../../language/expression/value.ts'
import type { Bench } from '../bench.ts'
import { mainDocument, manyDocument, REALM } from '../documents.ts'
import { type Gateway, loadUnmanaged, postDocuments, postSync, startGateway } from '../gateway.ts'
import { startProbe, type ProbeReport } from '../probe.ts'
import { atMost, fixed, type Section, whole } from '../section.ts'
import { type StartServer, withServers } from '../server-process.ts'
import { median } from '../statistics.ts'

const DOCUMENTS = 1000
const NO_UPSTREAM = 'http://127.0.0.1:9'
const MANAGER = 'bench'
const QUIET_MS = 1000

interface Loading {
  readonly seconds: number
  readonly meanwhile: ProbeReport
  /** The same stream for a second in which nothing was loaded. */
  readonly quiet: ProbeReport
}

interface Way {
  readonly name: string
  /** A gateway that serves the main document already, and the call that gives it the others. */
  readonly prepare: (start: StartServer) => Promise<readonly [Gateway, () => Promise<void>]>
}

export const measureLoad = async (bench: Bench): Promise<Section> => {
  const documents = Array.from({ length: DOCUMENTS }, (_, index) => manyDocument(index))
  const ways = [byHandWay(documents), bySyncWay(documents)]
  const results = new Map<string, Loading[]>(ways.map(({ name }) => [name, []]))
  for (let repetition = 1; repetition <= bench.timing.repetitions; repetition++) {
    for (const way of ways) {
      bench.progress(`load: ${way.name}, ${repetition} of ${bench.timing.repetitions}`)
      results.get(way.name)?.push(await loadOnce(bench, way))
    }
  }
  const summaries = [...results].map(([name, loadings]) => summaryOf(name, loadings))
  return {
    title: 'Load',
    method: `${whole(DOCUMENTS)} documents of 20 paths, each path a body of ten expressions, in one call to a gateway that has just been started; meanwhile a request every 2 ms to a static path of another document. Medians of the repetitions, \`quiet\` is the slowest request of a second in which nothing is loaded.`,
    tables: [
      {
        head: ['', 'seconds', 'p50 ms', 'p99 ms', 'p99.9 ms', 'slowest ms', 'quiet ms'],
        rows: summaries.map(({ name, seconds, p50Ms, p99Ms, p999Ms, slowestMs, quietMs }) => [
          name,
          fixed(seconds, 2),
          ...[p50Ms, p99Ms, p999Ms, slowestMs, quietMs].map((ms) => fixed(ms, 1)),
        ]),
      },
    ],
    targets: summaries.flatMap(({ name, seconds, p999Ms }) => [
      atMost(`${name}: time`, { bound: 0.7, measured: seconds, unit: ' s' }),
      atMost(`${name}: requests meanwhile, p99.9`, {
        bound: 20,
        measured: p999Ms,
        unit: ' ms',
        digits: 1,
      }),
    ]),
    remarks: [],
  }
}

const summaryOf = (name: string, loadings: readonly Loading[]) => {
  const of = (read: (loading: Loading) => number): number => median(loadings.map(read))
  return {
    name,
    seconds: of(({ seconds }) => seconds),
    p50Ms: of(({ meanwhile }) => meanwhile.p50Ms),
    p99Ms: of(({ meanwhile }) => meanwhile.p99Ms),
    p999Ms: of(({ meanwhile }) => meanwhile.p999Ms),
    slowestMs: of(({ meanwhile }) => meanwhile.slowestMs),
    quietMs: of(({ quiet }) => quiet.slowestMs),
  }
}

const loadOnce = ({ machine }: Bench, way: Way): Promise<Loading> =>
  withServers(machine, async (start) => {
    const [gateway, load] = await way.prepare(start)
    using probe = await startProbe(`${gateway.url}/v1/static`)
    const quiet = await probe.during(() => sleep(QUIET_MS))
    let seconds = NaN
    const meanwhile = await probe.during(async () => {
      const startedMs = performance.now()
      await load()
      seconds = (performance.now() - startedMs) / 1000
    })
    return { seconds, meanwhile, quiet }
  })

const byHandWay = (documents: readonly object[]): Way => {
  const body = JSON.stringify(documents)
  return {
    name: 'POST /api_specs',
    prepare: async (start) => {
      const gateway = await startGateway(start)
      await loadUnmanaged(gateway, [mainDocument(NO_UPSTREAM)])
      return [gateway, () => postDocuments(gateway, body)]
    },
  }
}

const bySyncWay = (documents: readonly object[]): Way => {
  const first = syncCall({ held: [], documents: [mainDocument(NO_UPSTREAM)], realms: [REALM] })
  const second = syncCall({ held: first.held, documents, realms: [] })
  return {
    name: 'POST /api_specs/_sync',
    prepare: async (start) => {
      const gateway = await startGateway(start, { flags: ['--managed', MANAGER] })
      await postSync(gateway, first.body)
      return [gateway, () => postSync(gateway, second.body)]
    },
  }
}

interface Sync {
  /** What the manager holds there before the call. */
  readonly held: readonly LoadedEntry[]
  readonly documents: readonly object[]
  readonly realms: readonly { readonly uri: string }[]
}

/** The call as JSON, and what is held after it. */
const syncCall = ({
  held,
  documents,
  realms,
}: Sync): { readonly body: string; readonly held: readonly LoadedEntry[] } => {
  const specs = documents.map((document) => {
    const { id } = document as { readonly id: string }
    return { id, digest: digestOf(document as Value), since: 0, spec: document }
  })
  const realmPuts = realms.map((realm) => ({ uri: realm.uri, digest: digestOf(realm), realm }))
  const after: readonly LoadedEntry[] = [
    ...held,
    ...realmPuts.map(({ uri, digest }) => ({ kind: 'realm', key: uri, digest }) as const),
    ...specs.map(({ id, digest }) => ({ kind: 'spec', key: id, digest }) as const),
  ]
  const body = JSON.stringify({
    managedBy: MANAGER,
    epoch: 1,
    base: rootDigest(held),
    realms: { put: realmPuts },
    specs: { put: specs },
    complete: rootDigest(after),
  })
  return { body, held: after }
}
