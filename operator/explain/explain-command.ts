// Runs `svc-operator explain METHOD URL FILE…|URL`: prints which route takes a request and what decides it, from files or a
// gateway, in the same words.

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
import { gatherFiles } from '../validate/gather-files.ts'
import { explanationText } from './explanation-text.ts'
import { isManagementAddress } from '../gateway-operand.ts'
import { askGateway, type SourceOutput, type SourceSettings } from './gateway.ts'
import { type DocumentOfFile, readDocuments } from './read-documents.ts'

export interface ExplainSettings extends SourceSettings {
  readonly json: boolean
}

/** 0: the request would be served. 1: it would not. 2: it is not known. */
export const runExplain = async (
  request: ExplainRequest,
  source: readonly string[],
  settings: ExplainSettings,
  output: SourceOutput,
): Promise<0 | 1 | 2> => {
  const fail = (fault: string): 2 => {
    output.complain(`${output.program}: ${fault}\n`)
    return 2
  }
  const reading = readRequest(request)
  if ('fault' in reading) return fail(reading.fault)
  const [first = ''] = source
  const result = isManagementAddress(first)
    ? await byGateway(first, request, settings)
    : await byFiles(source, reading.request, settings, output)
  if ('fault' in result) return fail(result.fault)
  const { explanation, at, leftOut } = result
  if (settings.json) output.print(`${JSON.stringify({ ...explanation, at }, null, 2)}\n`)
  else output.print(explanationText(explanation, at))
  for (const line of leftOut) output.complain(`left out: ${line}\n`)
  return explanation.verdict.outcome === 'served' ? 0 : 1
}

type Result =
  | {
      readonly explanation: Explanation
      /** Place in a file, or id of the document; null: there is no route. */
      readonly at: string | null
      readonly leftOut: readonly string[]
    }
  | { readonly fault: string }

const byFiles = async (
  operands: readonly string[],
  request: ReadRequest,
  { class: className, maxRoutes }: ExplainSettings,
  { readStdin }: SourceOutput,
): Promise<Result> => {
  const gathered = await gatherFiles(operands, readStdin)
  if ('fault' in gathered) return gathered
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
  settings: ExplainSettings,
): Promise<Result> => {
  const response = await askGateway(url, settings, (client) => client.explain(request))
  if ('fault' in response) return response
  const { value: explanation } = response
  return { explanation, at: explanation.route?.document ?? null, leftOut: [] }
}
