// Runs the examples of documents: in this process by the code of the gateway, without a network, or against a gateway.

import { CLASS_SETTING, MAX_ROUTES_SETTING, OUTPUT_SETTING } from '../common-settings.ts'
import { defineCommand } from '../command.ts'
import {
  type ExamplesReport,
  reportAsJson,
  reportAsJUnit,
  reportAsText,
  summaryOf,
  type TestedExample,
  testedExample,
} from '../examples/example-report.ts'
import { readExamples, type ReadExamples } from '../examples/read-examples.ts'
import { readSet } from '../examples/read-set.ts'
import { gatherFiles } from '../validate/gather-files.ts'

const OUTPUTS = ['text', 'json', 'junit'] as const

/** 0: all passed. 1: some failed, or documents were left out. 2: nothing could be run. */
export const testExamples = defineCommand(
  {
    program: 'svc test',
    summary:
      'runs the examples of documents by the code of the gateway; nothing leaves the process',
    operands: 'FILE|DIR|-…',
    repeated: {
      flag: '--set',
      placeholder: 'NAME=VALUE',
      help: 'a variable that comes from a Secret that is not among the files',
    },
    envPrefix: 'SVC_TEST_',
    settings: {
      output: { ...OUTPUT_SETTING.output, values: OUTPUTS },
      ...CLASS_SETTING,
      ...MAX_ROUTES_SETTING,
    },
    examples: [
      ['svc test apis/', 'every example below a directory'],
      ['svc test -o junit apis/ > examples.xml', 'a report for CI'],
    ],
  },
  async ({ settings, operands, repeated }, { print, complain, fail, readStdin }) => {
    if (operands.length === 0) return fail('name the files with examples, or - for stdin')
    const set = readSet(repeated)
    if ('error' in set) return fail(set.error)
    const gathered = await gatherFiles(operands, readStdin)
    if ('error' in gathered) return fail(gathered.error)
    const read = readExamples(gathered.files, { ...settings, set: set.variables })
    const report: ExamplesReport = { ...read, skipped: [], tested: await runAll(read) }
    print(PRINTERS[settings.output](report))
    for (const line of read.leftOut) complain(`left out: ${line}\n`)
    for (const { operation, place } of read.without) complain(`no example: ${place} ${operation}\n`)
    complain(`${summaryOf(report)}\n`)
    if (read.examples.length === 0 && read.leftOut.length === 0)
      return fail(`there is no example in ${operands.join(', ')}: write 'examples' in an operation`)
    const isFailed = report.tested.some(({ failures }) => failures.length > 0)
    return isFailed || read.leftOut.length > 0 ? 1 : 0
  },
)

const PRINTERS = {
  text: reportAsText,
  json: reportAsJson,
  junit: reportAsJUnit,
} as const satisfies Record<(typeof OUTPUTS)[number], (report: ExamplesReport) => string>

const runAll = async ({ documents, examples }: ReadExamples): Promise<readonly TestedExample[]> => {
  // Other commands need no gateway, which takes longer to load than they to run.
  const { createExampleRunner } = await import('../../dataplane/examples/run-example.ts')
  const run = await createExampleRunner(documents)
  const tested: TestedExample[] = []
  for (const each of examples) tested.push(testedExample(each, await run(each.placed)))
  return tested
}
