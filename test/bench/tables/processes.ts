// The table of what a second process costs.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { mainDocument } from '../documents.ts'
import { type Gateway, loadUnmanaged, startGateway } from '../gateway.ts'
import { atMost, comparisonRemarks, comparisonTable, type Section } from '../section.ts'
import { type Server, type StartServer, withServers } from '../server-process.ts'

const NO_UPSTREAM = 'http://127.0.0.1:9'
const [ONE, TWO] = ['one process', 'two processes']

export const measureProcesses = (bench: Bench): Promise<Section> =>
  withServers(bench.machine, async (start) => {
    const [one, two] = [await serve(start, []), await serve(start, ['--processes', '2'])]
    const comparison = await compare(bench, [subjectOf(ONE, one), subjectOf(TWO, two)], {
      title: 'processes',
      // Each of the two gets half of the requests, and has all of its own code to compile.
      warmFactor: 3,
    })
    const { cpu } = comparison.ratio(ONE, TWO)
    return {
      title: 'Two processes',
      method:
        'Static JSON, 64 connections. The processes share one core, as load generator and gateway need two: what is compared is the CPU time of all of them per request, not throughput.',
      tables: [comparisonTable(comparison)],
      targets: [atMost('CPU per request, two ÷ one', { bound: 1.1, measured: cpu, unit: ' ×' })],
      remarks: comparisonRemarks(comparison),
    }
  })

const serve = async (start: StartServer, flags: readonly string[]): Promise<Gateway> => {
  const gateway = await startGateway(start, { flags })
  await loadUnmanaged(gateway, [mainDocument(NO_UPSTREAM)])
  return gateway
}

const subjectOf = (name: string, { pid, url }: Server): Subject => ({
  name,
  pid,
  load: { url: `${url}/v1/static` },
})
