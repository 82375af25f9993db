// Compares this build of the gateway with another one, each round in processes of its own: which code the JIT compiles
// first, and how, differs from process to process by up to 15 %, more than most changes are worth.

import { join, resolve } from 'node:path'
import { makeTempDir } from '../../support/temp-dir.ts'
import { type Bench, CONNECTIONS } from '../bench.ts'
import type { HttpLoad } from '../compare.ts'
import { get, RENDERED_BODY, STATIC_BODY } from '../documents.ts'
import { type Gateway, loadUnmanaged, startGateway } from '../gateway.ts'
import { measure } from '../load.ts'
import { startUpstream } from '../peers.ts'
import { fixed, type Section, type Table, whole } from '../section.ts'
import { type Server, withServers } from '../server-process.ts'
import { type Measured, median } from '../statistics.ts'
import { lacksRouter, withRouter } from '../wamp-rig.ts'

/** Of each comparison. Fewer say nothing about differences below 5 %. */
const ROUNDS = 9
const RUNS_PER_ROUND = 3

/** The base twice: how far it is from itself is what the comparison can't tell apart. */
const SIDES = ['this build', 'base', 'base again'] as const

type Side = (typeof SIDES)[number]

interface Workload {
  readonly name: string
  readonly path: string
  readonly post?: string
}

const POSTED = JSON.stringify({ name: 'Ada', count: 1, list: [1, 2, 3], text: 'some words here' })

const WORKLOADS: readonly Workload[] = [
  { name: 'static', path: '/v1/static' },
  { name: 'rendered', path: '/v1/items/7?a=1' },
  { name: 'POST', path: '/v1/echo', post: POSTED },
  { name: 'forward', path: '/v1/small' },
  { name: 'forward to a name', path: '/v1/named' },
]

const WAMP: Workload = { name: 'WAMP call', path: '/v1/items/7' }

const documentFor = (upstream: Server): object => ({
  id: 'bench.builds',
  host: '_',
  realm_uri: 'bench',
  versions: {
    v1: {
      base_path: '/v1',
      paths: {
        '/static': get({ type: 'static', body: STATIC_BODY }),
        '/items/:id': get({ type: 'static', body: RENDERED_BODY }),
        '/echo': {
          post: { action: { type: 'static', body: '{{request.body.name}}' }, response: {} },
        },
        '/small': get({ type: 'forward', host: upstream.url, path: '/small' }),
        '/named': get({
          type: 'forward',
          host: `http://localhost:${upstream.port}`,
          path: '/small',
        }),
      },
    },
  },
})

/** @param base a checkout in which `npm run build` was run */
export const measureBuilds = async (bench: Bench, base: string): Promise<Section> => {
  const mains: Readonly<Record<Side, string | undefined>> = {
    'this build': undefined,
    base: join(resolve(base), 'dist/dataplane/main.js'),
    'base again': join(resolve(base), 'dist/dataplane/main.js'),
  }
  const rows: (readonly string[])[] = []
  for (const workload of WORKLOADS) {
    const rounds = await inRounds(bench, workload, (round) =>
      withServers(bench.machine, async (start) => {
        await using directory = await makeTempDir()
        const options = { machine: bench.machine, start, directory: directory.path }
        const upstream = await startUpstream(options)
        return await round(async (side) => {
          const main = mains[side]
          const gateway = await startGateway(start, {
            ...(main !== undefined && { main }),
            flags: ['--upstream-allow', '127.0.0.0/8,::1/128'],
          })
          await loadUnmanaged(gateway, [documentFor(upstream)])
          return gateway
        })
      }),
    )
    rows.push(rowOf(workload, rounds))
  }
  const lacking = await lacksRouter('nexus')
  if (lacking === undefined) {
    const rounds = await inRounds(bench, WAMP, (round) =>
      withRouter(bench.machine, 'nexus', ({ router, startGateway: startJoined }) =>
        round((side) =>
          startJoined({ url: router.ws, serializers: ['json'] }, { main: mains[side] }),
        ),
      ),
    )
    rows.push(rowOf(WAMP, rounds))
  }
  return {
    title: 'This build and another one',
    method: `${CONNECTIONS} connections. Each of ${roundsOf(bench)} rounds starts new processes of both builds, and a second one of the base as an A/A control, and measures each ${RUNS_PER_ROUND} times in turns. Ratios are to the base, above 1 is better; each is the median of those within a round. A difference that is not clearly larger than that of \`A/A\` is none.`,
    tables: [{ head: HEAD, rows }],
    targets: [],
    remarks: lacking === undefined ? [] : [`WAMP calls were left out: ${lacking}.`],
  }
}

const HEAD: Table['head'] = ['', 'requests/s', 'CPU µs', '×', 'CPU ×', 'A/A ×', 'A/A CPU ×']

type Round = Readonly<Record<Side, Measured>>

const roundsOf = ({ timing }: Bench): number => (timing.seconds === 1 ? 1 : ROUNDS)

/** @param inProcesses starts what a round needs, and ends it after the round */
const inRounds = async (
  bench: Bench,
  workload: Workload,
  inProcesses: (
    round: (start: (side: Side) => Promise<Gateway>) => Promise<Round>,
  ) => Promise<Round>,
): Promise<readonly Round[]> => {
  const rounds: Round[] = []
  for (let index = 0; index < roundsOf(bench); index++) {
    // Who is first has an advantage, or none: it changes.
    const order = index % 2 === 0 ? SIDES : SIDES.toReversed()
    bench.progress(`builds: ${workload.name}, round ${index + 1} of ${roundsOf(bench)}`)
    rounds.push(await inProcesses((start) => measureRound(bench, workload, order, start)))
  }
  return rounds
}

const measureRound = async (
  { machine, timing }: Bench,
  { path, post }: Workload,
  order: readonly Side[],
  start: (side: Side) => Promise<Gateway>,
): Promise<Round> => {
  const gateways = new Map<Side, Gateway>()
  for (const side of order) gateways.set(side, await start(side))
  const runs = new Map<Side, Measured[]>(SIDES.map((side) => [side, []]))
  const under = async ({ url, pid }: Gateway, seconds: number): Promise<Measured> => {
    const load: HttpLoad = { url: url + path, ...(post !== undefined && { post }) }
    return await measure(machine, { ...load, connections: CONNECTIONS, seconds }, pid)
  }
  for (const gateway of gateways.values()) await under(gateway, timing.warmSeconds)
  for (let run = 0; run < RUNS_PER_ROUND; run++)
    for (const [side, gateway] of gateways)
      runs.get(side)?.push(await under(gateway, timing.seconds))
  const middle = (side: Side): Measured => medianOf(runs.get(side) ?? [])
  return {
    'this build': middle('this build'),
    base: middle('base'),
    'base again': middle('base again'),
  }
}

const medianOf = (runs: readonly Measured[]): Measured => {
  const of = (key: keyof Measured): number => median(runs.map((run) => run[key]))
  return {
    perSecond: of('perSecond'),
    cpuMicros: of('cpuMicros'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    peakRssMegabytes: of('peakRssMegabytes'),
    socketErrors: of('socketErrors'),
  }
}

const rowOf = ({ name }: Workload, rounds: readonly Round[]): readonly string[] => {
  const own = (key: keyof Measured): number => median(rounds.map((each) => each['this build'][key]))
  const faster = (side: Side): number =>
    median(rounds.map((each) => each[side].perSecond / each.base.perSecond))
  const cheaper = (side: Side): number =>
    median(rounds.map((each) => each.base.cpuMicros / each[side].cpuMicros))
  return [
    name,
    whole(own('perSecond')),
    fixed(own('cpuMicros'), 1),
    fixed(faster('this build'), 3),
    fixed(cheaper('this build'), 3),
    fixed(faster('base again'), 3),
    fixed(cheaper('base again'), 3),
  ]
}
