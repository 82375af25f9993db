// Reads what a gateway says of its routes and of a request. Members that are missing or of another type are read as
// empty, and words that are not known as the nearest that claims less.

import type { OperationDescription } from '../../../language/explain/describe-operation.ts'
import type {
  Check,
  Explanation,
  RouteTaken,
  TriedHost,
  Verdict,
} from '../../../language/explain/explanation.ts'
import type { RouteRow } from '../../../language/explain/list-routes.ts'
import { METHODS } from '../../../language/document.ts'
import { listAt, mapAt, mapsAt, memberAt, textAt } from '../../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'

export interface RoutesPage {
  readonly routes: readonly RouteRow[]
  /** One line for each document that cannot be listed. */
  readonly leftOut: readonly string[]
  /** Where the next page begins; null: this is the last one. */
  readonly next: string | null
}

/** undefined: it is no response to `GET /routes`. */
export const readRoutesPage = (body: unknown): RoutesPage | undefined => {
  if (!isMap(body) || !Array.isArray(body['routes'])) return undefined
  return {
    routes: mapsAt(body, 'routes').map(readRow),
    leftOut: textsIn(body, 'left_out'),
    next: textOrNull(body, 'next'),
  }
}

const readRow = (row: ValueMap): RouteRow => ({
  methods: textsIn(row, 'methods'),
  host: textAt(row, 'host'),
  path: textAt(row, 'path'),
  version: textAt(row, 'version'),
  active: memberAt(row, 'active') !== false,
  action: textAt(row, 'action'),
  security: textAt(row, 'security'),
  realm: textAt(row, 'realm'),
  document: textAt(row, 'document'),
  pointer: textAt(row, 'pointer'),
})

/** undefined: it is no response to `GET /explain`. */
export const readExplanation = (body: unknown): Explanation | undefined => {
  if (!isMap(body)) return undefined
  const [request, verdict] = [mapAt(body, 'request'), readVerdict(mapAt(body, 'verdict'))]
  if (verdict === undefined || textAt(request, 'method') === '') return undefined
  const route = memberAt(body, 'route')
  const operation = memberAt(body, 'operation')
  return {
    request: {
      method: textAt(request, 'method'),
      scheme: textAt(request, 'scheme') === 'https' ? 'https' : 'http',
      host: textAt(request, 'host'),
      path: textAt(request, 'path'),
    },
    tried: mapsAt(body, 'tried').map(readTried),
    route: isMap(route) ? readRoute(route) : null,
    checks: mapsAt(body, 'checks').map(readCheck),
    verdict,
    inactive: mapsAt(body, 'inactive').map((each) => ({
      document: textAt(each, 'document'),
      version: textAt(each, 'version'),
      path: textAt(each, 'path'),
    })),
    operation: isMap(operation) ? readOperation(operation) : null,
    note: textOrNull(body, 'note'),
  }
}

/** The first of the words that the text is; otherwise `otherwise`. */
const wordAt = <W extends string>(
  map: ValueMap,
  name: string,
  words: readonly W[],
  otherwise: W,
): W => words.find((word) => word === textAt(map, name)) ?? otherwise

const STEPS = ['head', 'route', 'method', 'upgrade', 'authenticate', 'negotiate', 'body'] as const

const readVerdict = (verdict: ValueMap): Verdict | undefined => {
  const [outcome, message] = [textAt(verdict, 'outcome'), textAt(verdict, 'message')]
  const status = memberAt(verdict, 'status')
  if (outcome === 'served')
    return { outcome, status: typeof status === 'number' ? status : null, message }
  if (outcome !== 'rejected' || typeof status !== 'number') return undefined
  const step = wordAt(verdict, 'step', STEPS, 'route')
  return { outcome, status, code: textAt(verdict, 'code'), step, message }
}

const REASONS = [
  'segment',
  'unsafe segment',
  'path too short',
  'path too long',
  'older document',
] as const satisfies readonly NonNullable<TriedHost['reason']>[]

const readTried = (tried: ValueMap): TriedHost => {
  const isMatch = textAt(tried, 'outcome') === 'matched'
  const count = memberAt(tried, 'matched_segments')
  return {
    outcome: isMatch ? 'matched' : 'missed',
    document: textAt(tried, 'document'),
    host: textAt(tried, 'host'),
    path: textAt(tried, 'path'),
    matched_segments: typeof count === 'number' ? count : 0,
    reason: isMatch ? null : wordAt(tried, 'reason', REASONS, 'segment'),
  }
}

const KINDS = ['operation', 'endpoint', 'websocket', 'keys'] as const

const readRoute = (route: ValueMap): RouteTaken => ({
  kind: wordAt(route, 'kind', KINDS, 'operation'),
  document: textAt(route, 'document'),
  version: textAt(route, 'version'),
  realm: textAt(route, 'realm'),
  path: textAt(route, 'path'),
  method: METHODS.find((method) => method === textAt(route, 'method')) ?? null,
  pointer: textOrNull(route, 'pointer'),
  action: textAt(route, 'action'),
})

const readCheck = (check: ValueMap): Check => ({
  name: wordAt(check, 'name', ['scheme', 'method', 'security', 'accept', 'body'], 'scheme'),
  result: wordAt(check, 'result', ['pass', 'fail', 'unknown'], 'unknown'),
  message: textAt(check, 'message'),
})

const readOperation = (operation: ValueMap): OperationDescription => {
  const action = mapAt(operation, 'action')
  return {
    method: METHODS.find((method) => method === textAt(operation, 'method')) ?? 'get',
    pointer: textAt(operation, 'pointer'),
    security: mapAt(operation, 'security'),
    // Only shown: what another version may have beside ours is a name all the same.
    accepts: textsIn(operation, 'accepts') as OperationDescription['accepts'],
    provides: textsIn(operation, 'provides') as OperationDescription['provides'],
    limits: mapAt(operation, 'limits'),
    action: { ...action, type: textAt(action, 'type') },
    response_headers: memberAt(operation, 'response_headers') ?? {},
    on_result: mapOrNull(memberAt(operation, 'on_result')),
    on_error: mapOrNull(memberAt(operation, 'on_error')),
  }
}

const mapOrNull = (value: Value | undefined): ValueMap | null => (isMap(value) ? value : null)

const textsIn = (map: ValueMap, name: string): readonly string[] =>
  listAt(map, name).filter((each) => typeof each === 'string')

const textOrNull = (map: ValueMap, name: string): string | null => {
  const value = memberAt(map, name)
  return typeof value === 'string' ? value : null
}
