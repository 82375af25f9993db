// Prints an explanation for a terminal: what was tried, the route, each check, the folded operation, and the result.

import type { Explanation, TriedHost } from '../../language/explain/explanation.ts'
import { memberLines, plainLine } from '../value-text.ts'

/** @param at where the route stands: a place in a file, or the id of the document */
export const explanationText = (explanation: Explanation, at: string | null): string => {
  const { request, checks, note } = explanation
  const lines = [
    `${request.method} ${request.scheme}://${request.host}${request.path}`,
    '',
    ...triedLines(explanation),
    ...inactiveLines(explanation),
    ...routeLines(explanation, at),
    ...checks.map(({ name, result, message }) => `${label(name)}${MARKS[result]}${message}`),
    ...(note === null ? [] : [`${label('note')}${note}`]),
    ...operationLines(explanation),
    '',
    resultLine(explanation),
  ]
  return lines.map((line) => `${plainLine(line)}\n`).join('')
}

const MARKS = { pass: '', fail: 'FAILS: ', unknown: '' } as const

const label = (name: string): string => name.padEnd(10)

const triedLines = ({ tried, route }: Explanation): readonly string[] => {
  if (tried.length === 0)
    return route === null ? [`${label('hosts')}no host pattern matches this host`] : []
  return [
    'hosts tried, in order, each with the path pattern that matched furthest:',
    ...tried.map(
      (each) =>
        `  ${each.host} ${each.path} of ${each.document}: ${REASONS[each.reason ?? 'matched'](each)}`,
    ),
  ]
}

const segments = ({ matched_segments: count }: TriedHost): string =>
  `${count} ${count === 1 ? 'segment matches' : 'segments match'}`

const REASONS: Readonly<
  Record<NonNullable<TriedHost['reason']> | 'matched', (tried: TriedHost) => string>
> = {
  matched: () => 'matches',
  'older document': () =>
    'matches too, but an older document with an equally specific host comes first',
  segment: (tried) => `${segments(tried)}, the next one is another`,
  'unsafe segment': (tried) => `${segments(tried)}, the next ones hold one that is empty, . or ..`,
  'path too short': (tried) => `${segments(tried)}, and the path ends before the pattern does`,
  'path too long': (tried) => `${segments(tried)}, and the path goes on after the pattern`,
}

const inactiveLines = ({ inactive }: Explanation): readonly string[] =>
  inactive.map(
    ({ document, version, path }) =>
      `${label('inactive')}version ${version} of ${document} has ${path}: set is_active to serve it`,
  )

const routeLines = ({ route }: Explanation, at: string | null): readonly string[] => {
  if (route === null) return []
  const { method, path, version, document, realm } = route
  const words = [method?.toUpperCase() ?? '', path].filter((part) => part !== '').join(' ')
  const owner = document === '' ? '' : `, version ${version} of ${document}, realm ${realm}`
  const place = at === null || at === document ? '' : ` (${at})`
  const action = route.action === '' ? [] : [`${label('action')}${route.action}`]
  return [`${label('route')}${words}${owner}${place}`, ...action]
}

const operationLines = ({ operation }: Explanation): readonly string[] => {
  if (operation === null) return []
  const { action, response_headers, on_result, on_error, ...others } = operation
  const parts = { action, response_headers, on_result, on_error, ...others }
  return [
    '',
    'the operation, with everything inherited and folded:',
    ...Object.entries(parts).flatMap(([name, value]) =>
      value === null || SHOWN_ABOVE.has(name) ? [] : memberLines(name, value, 2),
    ),
  ]
}

const SHOWN_ABOVE: ReadonlySet<string> = new Set(['method', 'pointer', 'security'])

const resultLine = ({ verdict }: Explanation): string => {
  if (verdict.outcome === 'rejected')
    return `${label('result')}${verdict.status} ${verdict.code}: ${verdict.message}`
  const status = verdict.status === null ? 'served' : `served with ${verdict.status}`
  return `${label('result')}${status}: ${verdict.message}`
}
