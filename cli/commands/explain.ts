// Says which route takes a request, what decides it, and why others do not: from files or a gateway, in the same words.

import {
  completeExplanation,
  documentsToFold,
} from '../../language/explain/complete-explanation.ts'
import { compiledRoutes } from '../../language/explain/compiled-routes.ts'
import { explainRoute } from '../../language/explain/explain-route.ts'
import type { Explanation } from '../../language/explain/explanation.ts'
import {
  type ExplainRequest,
  readRequest,
  type ReadRequest,
} from '../../language/explain/read-request.ts'
import { type CommandIo, defineCommand } from '../command.ts'
import { explanationText } from '../explain/explanation-text.ts'
import { askGateway, type SourceSettings } from '../explain/gateway.ts'
import { type DocumentOfFile, readDocuments } from '../explain/read-documents.ts'
import { isManagementAddress, sourceProblem } from '../gateway-operand.ts'
import { OUTPUT_SETTING, SOURCE_SETTINGS } from '../common-settings.ts'
import { gatherFiles } from '../validate/gather-files.ts'

/** 0: the request would be served. 1: it would not. 2: it is not known. */
export const explain = defineCommand(
  {
    program: 'svc explain',
    summary:
      'says which route takes a request, what it lacks, and what happens then; sends nothing',
    operands: 'METHOD REQUEST-URL FILE|DIR|-…|URL',
    repeated: {
      flag: '-H',
      placeholder: "'NAME: VALUE'",
      help: 'a header of the request, as for curl; values are never printed',
    },
    envPrefix: 'SVC_EXPLAIN_',
    settings: { ...OUTPUT_SETTING, ...SOURCE_SETTINGS },
    examples: [
      ["svc explain GET https://api.acme.com/v1/users/42 -H 'Accept: text/html' apis/", 'by files'],
    ],
  },
  async ({ settings, operands, repeated }, { print, complain, fail, readStdin }) => {
    const [method, url, ...source] = operands
    if (method === undefined || url === undefined)
      return fail(
        'name the method and the URL of the request, such as GET https://api.acme.com/users',
      )
    if (method.includes('://'))
      return fail(`name the method before the URL of the request, such as GET ${method}`)
    const problem = sourceProblem(source)
    if (problem !== undefined) return fail(problem)
    const request = { method, url, headers: repeated }
    const reading = readRequest(request)
    if ('error' in reading) return fail(reading.error)
    const [first = ''] = source
    const result = isManagementAddress(first)
      ? await byGateway(first, request, settings)
      : await byFiles(source, reading.request, { settings, readStdin })
    if ('error' in result) return fail(result.error)
    const { explanation, at, leftOut } = result
    if (settings.output === 'json') print(`${JSON.stringify({ ...explanation, at }, null, 2)}\n`)
    else print(explanationText(explanation, at))
    for (const line of leftOut) complain(`left out: ${line}\n`)
    return explanation.verdict.outcome === 'served' ? 0 : 1
  },
)

type Result =
  | {
      readonly explanation: Explanation
      /** Place in a file, or id of the document; null: there is no route. */
      readonly at: string | null
      readonly leftOut: readonly string[]
    }
  | { readonly error: string }

interface Reading extends Pick<CommandIo, 'readStdin'> {
  readonly settings: SourceSettings
}

const byFiles = async (
  operands: readonly string[],
  request: ReadRequest,
  { settings: { class: className, maxRoutes }, readStdin }: Reading,
): Promise<Result> => {
  const gathered = await gatherFiles(operands, readStdin)
  if ('error' in gathered) return gathered
  const { documents, leftOut, hasRouter } = readDocuments(gathered.files, { className, maxRoutes })
  const table = compiledRoutes(documents.map(({ compiled }) => compiled))
  const route = explainRoute(request, { table, hasRouter })
  const byId = new Map(documents.map((document) => [document.folded.id, document]))
  const ids = new Set([
    ...documentsToFold(route),
    ...(route.route === null ? inactiveAmong(documents) : []),
  ])
  const wanted = [...byId].filter(([id]) => ids.has(id))
  const explanation = completeExplanation(route, new Map(wanted))
  const taken = byId.get(route.route?.document ?? '')
  const at = taken?.placeOf(route.route?.pointer ?? '') ?? null
  return { explanation, at, leftOut }
}

/** Documents without an active version, which no host leads to. */
const inactiveAmong = (documents: readonly DocumentOfFile[]): readonly string[] =>
  documents
    .filter(({ folded }) => folded.versions.every(({ isActive }) => !isActive))
    .map(({ folded }) => folded.id)

const byGateway = async (
  url: string,
  request: ExplainRequest,
  settings: SourceSettings,
): Promise<Result> => {
  const response = await askGateway(url, settings, (client) => client.explain(request))
  if ('error' in response) return response
  const { value: explanation } = response
  return { explanation, at: explanation.route?.document ?? null, leftOut: [] }
}
