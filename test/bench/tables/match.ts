// The table of finding out who serves a request: by itself, and as a part of whole requests, among few
// documents and among many.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { manyDocument } from '../documents.ts'
import { type Gateway, loadUnmanaged, startGateway } from '../gateway.ts'
import { runProgram } from '../program-output.ts'
import { requestEach } from '../request-each.ts'
import {
  atMost,
  comparisonRemarks,
  comparisonTable,
  ratioAtLeast,
  type Section,
  whole,
} from '../section.ts'
import { withServers } from '../server-process.ts'
import type { Comparison } from '../statistics.ts'

const [FEW, MANY] = [10, 10_000]
const COUNTS = [FEW, 1000, MANY]
const PASSES = 5
const PATHS = 20

export const measureMatch = async (bench: Bench): Promise<Section> => {
  const nanoseconds: number[] = []
  for (const count of COUNTS) {
    bench.progress(`match: ${whole(count)} documents, in one process`)
    nanoseconds.push(await timeMatches(bench, count))
  }
  const { onePath, allPaths } = await compareWhole(bench)
  const [few, many] = [nameOf(FEW, 1), nameOf(MANY, 1)]
  return {
    title: 'Match',
    method:
      'Documents of 20 paths, each with a host of its own; hosts and paths are drawn at random. First the match alone, then whole requests for static bodies of ten expressions: to one path of each document, and to all 20. Each operation has been asked for once before: closures are kept of all operations while memory allows.',
    tables: [
      {
        head: ['documents', 'ns per match'],
        rows: COUNTS.map((count, index) => [whole(count), whole(nanoseconds[index] ?? NaN)]),
      },
      comparisonTable(onePath),
      comparisonTable(allPaths),
    ],
    targets: [
      atMost(`match among ${whole(MANY)} documents`, {
        bound: 2,
        measured: (nanoseconds.at(-1) ?? NaN) / 1000,
        unit: ' µs',
      }),
      ...ratioAtLeast(onePath, many, few, 0.9),
      ...ratioAtLeast(allPaths, nameOf(MANY, PATHS), nameOf(FEW, PATHS), 0.75),
    ],
    remarks: [...comparisonRemarks(onePath), ...comparisonRemarks(allPaths), WHY_SLOWER],
  }
}

/** Found by requesting some of 10,000 loaded documents, and by comparing CPU profiles. */
const WHY_SLOWER =
  "What many documents cost is memory that is not in the processor's caches, not the size of the heap: in a process with 10,000 documents, requests to ten of them take what they take in a process with ten. Each document that is asked for in turn adds reads of its own host, candidates, operation and texts, which come from memory."

const timeMatches = async ({ machine }: Bench, count: number): Promise<number> => {
  const output = await runProgram(machine, 'match-program.ts', count, PASSES)
  return (output as { readonly nanoseconds: number }).nanoseconds
}

const nameOf = (documents: number, paths: number): string =>
  `${whole(documents)} documents, ${paths} ${paths === 1 ? 'path' : 'paths'}`

const compareWhole = (
  bench: Bench,
): Promise<{ readonly onePath: Comparison; readonly allPaths: Comparison }> =>
  withServers(bench.machine, async (start) => {
    const gateways: (readonly [number, Gateway])[] = []
    for (const count of [FEW, MANY]) {
      bench.progress(`match: loading ${whole(count)} documents`)
      const gateway = await startGateway(start)
      await loadUnmanaged(
        gateway,
        Array.from({ length: count }, (_, index) => manyDocument(index)),
      )
      bench.progress(`match: requesting each operation of ${whole(count)} documents once`)
      await requestEach(gateway.url, { documents: count, paths: PATHS })
      gateways.push([count, gateway])
    }
    const at = (paths: number): Promise<Comparison> => {
      const subjects = gateways.map(([documents, { url, pid }]): Subject => ({
        name: nameOf(documents, paths),
        pid,
        load: { url, random: { documents, paths } },
      }))
      return compare(bench, subjects, { title: `match, ${paths} of 20 paths` })
    }
    return { onePath: await at(1), allPaths: await at(PATHS) }
  })
