// Runs the examples of documents: in this process by the code of the gateway, without a network, or against a gateway.

import { CLASS_SETTING, MAX_ROUTES_SETTING, OUTPUT_SETTING } from '../common-settings.ts'
import { defineCommand } from '../command.ts'
import {
  exampleName,
  type ExamplesReport,
  reportAsJson,
  reportAsJUnit,
  reportAsText,
  summaryOf,
  type TestedExample,
  testedExample,
} from '../examples/example-report.ts'
import { readExamples, type ReadExamples } from '../examples/read-examples.ts'
import { readSet, SET_FLAG } from '../examples/read-set.ts'
import { gatherFiles } from '../validate/gather-files.ts'

const OUTPUTS = ['text', 'json', 'junit'] as const

/** 0: all passed. 1: some failed, or documents were left out. 2: nothing could be run. */
export const testExamples = defineCommand(
  {
    program: 'svc test',
    summary:
      'runs the examples of documents by the code of the gateway; nothing leaves the process',
    operands: 'FILE|DIR|-…',
    repeated: SET_FLAG,
    envPrefix: 'SVC_TEST_',
    settings: {
      output: { ...OUTPUT_SETTING.output, values: OUTPUTS },
      url: {
        type: 'string',
        default: null,
        placeholder: 'URL',
        help: 'send them to this gateway; those with a caller are not sent',
        reason: 'tests of what is deployed',
      },
      methods: {
        type: 'list',
        default: ['GET', 'HEAD'],
        needs: ['url'],
        help: 'methods by which it is sent to',
        reason: 'gateways where examples may change something',
      },
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
    const run = await runAll(read, settings)
    if ('error' in run) return fail(run.error)
    const report: ExamplesReport = { ...read, ...run }
    print(PRINTERS[settings.output](report))
    for (const line of read.leftOut) complain(`left out: ${line}\n`)
    for (const { operation, place } of read.without) complain(`no example: ${place} ${operation}\n`)
    for (const { name, reason } of report.skipped) complain(`not run: ${name}: ${reason}\n`)
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

type Run = Pick<ExamplesReport, 'tested' | 'skipped'>

const runAll = async (
  read: ReadExamples,
  { url: written, methods }: { readonly url: string | null; readonly methods: readonly string[] },
): Promise<Run | { readonly error: string }> => {
  if (written === null) return runHere(read)
  const url = URL.parse(written)
  return url === null || !/^https?:$/.test(url.protocol)
    ? { error: '--url takes the address of a gateway, such as http://127.0.0.1:18080' }
    : sendAll(read, url, methods)
}

const runHere = async ({ documents, examples }: ReadExamples): Promise<Run> => {
  // Other commands need no gateway, which takes longer to load than they to run.
  const { createExampleRunner } = await import('../../dataplane/examples/run-example.ts')
  const run = await createExampleRunner(documents)
  const tested: TestedExample[] = []
  for (const each of examples) tested.push(testedExample(each, await run(each.placed)))
  return { tested, skipped: [] }
}

const sendAll = async (
  { examples }: ReadExamples,
  url: URL,
  methods: readonly string[],
): Promise<Run> => {
  const { askGatewayBy, reasonNotToSend } = await import('../../dataplane/examples/ask-gateway.ts')
  const tested: TestedExample[] = []
  const skipped: ExamplesReport['skipped'][number][] = []
  for (const each of examples) {
    const reason = reasonNotToSend(each.placed, url, methods)
    if (reason === undefined) tested.push(testedExample(each, await askGatewayBy(each.placed, url)))
    else skipped.push({ name: exampleName(each), reason })
  }
  return { tested, skipped }
}
