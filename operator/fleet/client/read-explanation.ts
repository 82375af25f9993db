// Reads what a gateway says of its routes and of a request. Members that are missing or of another type are read as
// empty, and words that are not known as the nearest that claims less.

import type {
  DescribedOperation,
  OperationDescription,
} from '../../../language/explain/describe-operation.ts'
import type {
  Check,
  Explanation,
  InactiveRoute,
  RouteTaken,
  TriedHost,
  ExplainedResult,
} from '../../../language/explain/explanation.ts'
import type { RouteRow } from '../../../language/explain/list-routes.ts'
import { METHODS } from '../../../language/document.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import {
  anyOf,
  itemsIn,
  mapOf,
  oneOf,
  orElse,
  optional,
  type Read,
  readMap,
  readNumber,
  readText,
} from './reader.ts'

export interface RoutesPage {
  readonly routes: readonly RouteRow[]
  /** One line for each document that cannot be listed. */
  readonly leftOut: readonly string[]
  /** Where the next page begins; null: this is the last one. */
  readonly next: string | null
}

const someText = orElse(readText, '')
const textOrNull = orElse(readText, null)
const numberOrNull = orElse(readNumber, null)
const texts = orElse(itemsIn(readText, Infinity), [])
const listIn = <T>(read: Read<T>) => orElse(itemsIn(read, Infinity), [])

const readRow = mapOf<RouteRow>({
  methods: texts,
  host: someText,
  path: someText,
  version: someText,
  active: (value) => value !== false,
  action: someText,
  security: someText,
  cors: optional(readText),
  realm: someText,
  document: someText,
  pointer: someText,
})

const readPage = mapOf<Omit<RoutesPage, 'leftOut'> & { readonly left_out: readonly string[] }>({
  routes: itemsIn(readRow, Infinity),
  left_out: texts,
  next: textOrNull,
})

/** undefined: it is no response to `GET /routes`. */
export const readRoutesPage: Read<RoutesPage> = (body) => {
  const page = readPage(body)
  return page && { routes: page.routes, leftOut: page.left_out, next: page.next }
}

const readVerdict = anyOf<ExplainedResult>(
  mapOf<Extract<ExplainedResult, { readonly outcome: 'served' }>>({
    outcome: oneOf('served'),
    status: numberOrNull,
    message: someText,
  }),
  mapOf<Extract<ExplainedResult, { readonly outcome: 'rejected' }>>({
    outcome: oneOf('rejected'),
    status: readNumber,
    code: someText,
    step: orElse(
      oneOf('head', 'route', 'method', 'upgrade', 'authenticate', 'negotiate', 'body'),
      'route',
    ),
    message: someText,
  }),
)

const TRIED = {
  document: someText,
  host: someText,
  path: someText,
  matched_segments: orElse(readNumber, 0),
}

const readTried = anyOf(
  mapOf<TriedHost>({ outcome: oneOf('matched'), ...TRIED, reason: () => null }),
  mapOf<TriedHost>({
    outcome: () => 'missed',
    ...TRIED,
    reason: orElse(
      oneOf('segment', 'unsafe segment', 'path too short', 'path too long', 'older document'),
      'segment',
    ),
  }),
)

const readRoute = mapOf<RouteTaken>({
  kind: orElse(oneOf('operation', 'endpoint', 'websocket', 'keys'), 'operation'),
  document: someText,
  version: someText,
  realm: someText,
  path: someText,
  method: orElse(oneOf(...METHODS), null),
  pointer: textOrNull,
  action: someText,
})

const readCheck = mapOf<Check>({
  name: orElse(oneOf('scheme', 'method', 'security', 'accept', 'body', 'upgrade'), 'scheme'),
  result: orElse(oneOf('pass', 'fail', 'unknown'), 'unknown'),
  message: someText,
})

const someMap = orElse(readMap, {})

const readDescribed = mapOf<DescribedOperation>({
  method: orElse(oneOf(...METHODS), 'get'),
  pointer: someText,
  security: someMap,
  action: (value): OperationDescription['action'] => {
    const action: ValueMap = isMap(value) ? value : {}
    return { ...action, type: someText(action['type']) }
  },
  response_headers: (value) => (value ?? {}) as Value,
  on_result: orElse(readMap, null),
  on_error: orElse(readMap, null),
})

/** What operations inherit is only shown, also what another version knows beside ours. */
const readOperation: Read<OperationDescription> = (value) => {
  const described = readDescribed(value)
  return described && { ...(isMap(value) ? value : {}), ...described }
}

/** undefined: it is no response to `GET /explain`. */
export const readExplanation = mapOf<Explanation>({
  request: mapOf<Explanation['request']>({
    method: (value) => (value === '' ? undefined : readText(value)),
    scheme: orElse(oneOf('https'), 'http'),
    host: someText,
    path: someText,
  }),
  tried: listIn(readTried),
  route: orElse(readRoute, null),
  checks: listIn(readCheck),
  verdict: readVerdict,
  inactive: listIn(mapOf<InactiveRoute>({ document: someText, version: someText, path: someText })),
  operation: orElse(readOperation, null),
  note: textOrNull,
})
