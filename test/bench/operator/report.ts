// Makes the sections of the report from what was measured. Pure.

import { atLeast, atMost, fixed, type Section, type Table, type Target, whole } from '../section.ts'
import { median, percentile } from '../statistics.ts'
import type { Size, StageName } from './arguments.ts'
import type { RequestCount } from './audit-log.ts'
import type { Begun, Burst, Cold, Edited, LeaderChange, Memory, NewPods, Rest } from './stages.ts'

export interface Measured {
  readonly size: Size
  readonly begun: Pick<Begun, 'syncedMs' | 'programmedMs' | 'statusesPerSecond' | 'used'>
  readonly edits: Edited | undefined
  readonly pods: NewPods | undefined
  readonly cold: Cold | undefined
  readonly burst: Burst | undefined
  readonly rest: Rest | undefined
  readonly leaders: { readonly graceful: LeaderChange; readonly killed: LeaderChange } | undefined
  readonly memory: readonly MemoryAfter[]
}

/** Of the first operator, after a part. */
export interface MemoryAfter extends Memory {
  readonly name: 'begin' | StageName
}

export const sectionsOf = (measured: Measured): readonly Section[] => {
  const { size, begun, edits, pods, cold, burst, rest, leaders, memory } = measured
  return [
    beginSection(size, begun),
    edits === undefined ? undefined : editSection(size, edits),
    pods === undefined ? undefined : podSection(size, pods),
    cold === undefined ? undefined : coldSection(size, cold),
    burst === undefined ? undefined : burstSection(size, burst),
    rest === undefined ? undefined : restSection(size, rest),
    leaders === undefined ? undefined : leaderSection(size, leaders),
    memorySection(size, memory),
  ].filter((section) => section !== undefined)
}

const scale = ({ documents, dataPlanes }: Size): string =>
  `${whole(documents)} documents × ${whole(dataPlanes)} data planes`

const isLarge = ({ documents }: Size): boolean => documents > 1000

const latencyTable = (rows: Readonly<Record<string, readonly number[]>>): Table => ({
  head: ['ms', 'p50', 'p99', 'most', 'n'],
  rows: Object.entries(rows).map(([name, values]) => [
    name,
    ...[median(values), percentile(values, 0.99), Math.max(...values), values.length].map(whole),
  ]),
})

const seconds = (ms: number): string => fixed(ms / 1000, 1)

const beginSection = (
  size: Size,
  { syncedMs, programmedMs, statusesPerSecond, used }: Measured['begun'],
): Section => ({
  title: 'From nothing',
  method: `${scale(size)}: all are there, the data planes are empty, and no status has been written, when the operator is started.`,
  tables: [
    {
      head: ['from the start of the process', 's'],
      rows: [
        ['every data plane is complete', seconds(syncedMs)],
        ['every status says Programmed', seconds(programmedMs)],
        ['CPU time of the operator until then', seconds(used.cpuMs)],
      ],
    },
  ],
  targets: [
    atMost('every data plane is complete', { bound: 30, measured: syncedMs / 1000, unit: ' s' }),
    atLeast('statuses written', { bound: 100, measured: statusesPerSecond, unit: ' per s' }),
  ],
  remarks: [],
})

const editSection = (size: Size, { applied, first, held, programmed, used }: Edited): Section => ({
  title: 'Apply to programmed',
  method: `${scale(size)}: one document after the other is edited with server-side apply, the next one when the status of the last says Programmed. From before the request is sent.`,
  tables: [
    latencyTable({
      'until the API has it': applied,
      'until the first data plane holds it': first,
      'until all data planes hold it': held,
      'until the status says so too': programmed,
    }),
    {
      head: ['', 'ms'],
      rows: [['CPU time of the operator for an edit', fixed(used.cpuMs / held.length, 1)]],
    },
  ],
  targets: [
    atMost('apply → held by all, p99', {
      bound: isLarge(size) ? 0.2 : 0.15,
      measured: percentile(held, 0.99) / 1000,
      unit: ' s',
    }),
    atMost('CPU time for an edit', {
      bound: 15,
      measured: used.cpuMs / held.length,
      unit: ' ms',
    }),
  ],
  remarks: [],
})

const podSection = (size: Size, { synced }: NewPods): Section => ({
  title: 'New pod to synced',
  method: `${scale(size)}: one more Pod after the other; from before it is created in the API until its data plane, which was empty, is complete.`,
  tables: [latencyTable({ 'until it is complete': synced })],
  targets: [
    atMost('new pod → synced, p99', {
      bound: 2,
      measured: percentile(synced, 0.99) / 1000,
      unit: ' s',
    }),
  ],
  remarks: [],
})

const coldSection = (size: Size, { synced, toldMs, statusWrites, used }: Cold): Section => ({
  title: 'Cold fleet',
  method: `${scale(size)}: the containers of all Pods are started anew at once, empty. The API was told of the last one after ${seconds(toldMs)} s.`,
  tables: [
    latencyTable({ 'until it is complete': synced }),
    {
      head: ['', ''],
      rows: [
        ['CPU time of the operator, s', seconds(used.cpuMs)],
        ['statuses written meanwhile', whole(statusWrites)],
      ],
    },
  ],
  targets: [],
  remarks: [],
})

const burstSection = (size: Size, burst: Burst): Section => ({
  title: 'Every document edited at once',
  method: `${scale(size)}: all documents are edited, 32 requests at a time.`,
  tables: [
    {
      head: ['from the first edit', 's'],
      rows: [
        ['the API has taken all of them', seconds(burst.appliedMs)],
        ['all data planes hold all of them', seconds(burst.allHeldMs)],
        ['every status says so', seconds(burst.allProgrammedMs)],
        ['CPU time of the operator', seconds(burst.used.cpuMs)],
      ],
    },
    latencyTable({
      'an edit until all data planes hold it': burst.held,
      'an edit until the status says so too': burst.programmed,
    }),
  ],
  targets: [],
  remarks: [],
})

const restSection = (size: Size, rest: Rest): Section => ({
  title: 'At rest',
  method: `${scale(size)}: ${whole(rest.seconds)} s in which nothing changes, after all of the above, and after the operator had the time to collect the garbage of it; the last Event of that was written ${seconds(rest.quietMs)} s after the last status. Requests to the API server are those in its audit log; MB of 2^20 bytes.`,
  tables: [
    {
      head: ['API requests', 'in all', 'per s'],
      rows: rest.requests.map((each) => requestRow(each, rest.seconds)),
    },
    {
      head: ['', ''],
      rows: [
        ['CPU, % of a core', fixed(rest.cpuShare * 100, 2)],
        ['polls to data planes, per s', fixed(rest.polls / rest.seconds, 1)],
        ['pushes to data planes', whole(rest.pushes)],
        ['RSS, MB', whole(rest.rss)],
        ['RSS after a collection, MB', whole(rest.rssCollected)],
        ['heap in use after a collection, MB', whole(rest.heapCollected)],
      ],
    },
  ],
  targets: [
    atMost('CPU at rest', { bound: 1, measured: rest.cpuShare * 100, unit: ' % of a core' }),
    atMost('status writes', { bound: 0, measured: rest.statusWrites, digits: 0 }),
    atMost('writes but renewals of the Lease', { bound: 0, measured: rest.writes, digits: 0 }),
    atMost('RSS', { bound: isLarge(size) ? 450 : 150, measured: rest.rss, unit: ' MB', digits: 0 }),
  ],
  remarks: [],
})

const requestRow = ({ verb, resource, count }: RequestCount, over: number): readonly string[] => [
  `${verb} ${resource}`,
  whole(count),
  fixed(count / over, 2),
]

const leaderSection = (
  size: Size,
  { graceful, killed }: NonNullable<Measured['leaders']>,
): Section => ({
  title: 'Leader change',
  method: `${scale(size)}: a standby is warm when the leader gets SIGTERM, or SIGKILL; a Lease that nobody gives back lasts 15 s.`,
  tables: [
    {
      head: ['', 'SIGTERM', 'SIGKILL'],
      rows: [
        ['until the old process is gone, s', seconds(graceful.endedMs), seconds(killed.endedMs)],
        [
          'until the new leader has read every data plane, s',
          seconds(graceful.observedMs),
          seconds(killed.observedMs),
        ],
        ['pushes because of it', whole(graceful.pushes), whole(killed.pushes)],
        [
          'statuses written because of it',
          whole(graceful.statusWrites),
          whole(killed.statusWrites),
        ],
        ['the first edit after it, ms', whole(graceful.editMs), whole(killed.editMs)],
      ],
    },
  ],
  targets: leaderTargets(graceful, killed),
  remarks: [],
})

const PARTS = {
  begin: 'From nothing',
  edits: 'Apply to programmed',
  pods: 'New pod to synced',
  cold: 'Cold fleet',
  burst: 'Every document edited at once',
  rest: 'At rest',
  leaders: 'Leader change',
} as const satisfies Record<MemoryAfter['name'], string>

const memorySection = (size: Size, memory: readonly MemoryAfter[]): Section => ({
  title: 'Memory on the way',
  method: `${scale(size)}: the first operator after each part, in this order, and the most that it held during it; MB of 2^20 bytes. Its heap is what V8 takes in a container of ${whole(size.memoryLimit)} MB.`,
  tables: [
    {
      head: ['', 'RSS', 'most'],
      rows: memory.map(({ name, rss, peakRss }) => [PARTS[name], whole(rss), whole(peakRss)]),
    },
  ],
  targets: [],
  remarks: [],
})

const leaderTargets = (graceful: LeaderChange, killed: LeaderChange): readonly Target[] => [
  atMost('pushes because of a new leader', {
    bound: 0,
    measured: graceful.pushes + killed.pushes,
    digits: 0,
  }),
  atMost('statuses written because of a new leader', {
    bound: 0,
    measured: graceful.statusWrites + killed.statusWrites,
    digits: 0,
  }),
]
