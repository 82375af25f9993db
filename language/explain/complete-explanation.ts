// Completes what the route table says of a request with what the documents say: the operation inherited and folded, and
// versions that would match if they were active.

import type { ServedScheme } from '../document.ts'
import { match } from '../router/match.ts'
import { edit, emptyTable } from '../router/route-table.ts'
import type { Route } from '../router/route.ts'
import { parseAuthority } from '../routes/authority.ts'
import { securityText } from './list-routes.ts'
import type {
  Check,
  ExplainedResult,
  Explanation,
  InactiveRoute,
  RouteExplanation,
} from './explanation.ts'
import { type FoldedDocument, operationAt } from './fold-document.ts'

/** What is known of a document; `problem`: why it cannot be folded. */
export type FoldedResult = { readonly folded: FoldedDocument } | { readonly problem: string }

/** @param documents those of `documentsToFold`, by id */
export const completeExplanation = (
  explanation: RouteExplanation,
  documents: ReadonlyMap<string, FoldedResult>,
): Explanation => {
  const { route, verdict } = explanation
  const inactive =
    verdict.outcome === 'rejected' && route === null ? inactiveIn(explanation, documents) : []
  const result = documents.get(route?.document ?? '')
  const pointer = route?.pointer ?? null
  if (pointer === null || result === undefined)
    return { ...explanation, inactive, operation: null, note: null }
  if ('problem' in result)
    return { ...explanation, inactive, operation: null, note: result.problem }
  const operation = operationAt(result.folded, pointer) ?? null
  if (operation === null) return { ...explanation, inactive, operation, note: null }
  const security = securityText(operation.security)
  return {
    ...explanation,
    checks: explanation.checks.map((check) => withDemand(check, security)),
    verdict: withCallers(explanation, security),
    inactive,
    operation,
    note: null,
  }
}

const withDemand = (check: Check, security: string): Check =>
  check.name === 'security' && check.result !== 'pass'
    ? { ...check, message: `${security}: ${check.message}` }
    : check

/** Whom it is served to, where that depends on what is not checked: credentials, rights and addresses. */
const withCallers = ({ checks, verdict }: RouteExplanation, security: string): ExplainedResult =>
  verdict.outcome === 'served' &&
  checks.some(({ name, result }) => name === 'security' && result === 'unknown')
    ? {
        ...verdict,
        message: `${verdict.message} to callers who satisfy ${security}; all others get 401 or 403`,
      }
    : verdict

/**
 * Ids of the documents that complete an explanation: the one that serves the request, or those that were tried.
 * @example documentsToFold(explanation) // ['users']
 */
export const documentsToFold = ({ route, tried }: RouteExplanation): readonly string[] =>
  route === null ? [...new Set(tried.map(({ document }) => document))] : [route.document]

interface InactivePath {
  readonly version: string
  readonly template: string
  readonly schemes: readonly ServedScheme[]
}

const inactiveIn = (
  { request }: RouteExplanation,
  documents: ReadonlyMap<string, FoldedResult>,
): readonly InactiveRoute[] => {
  const host = parseAuthority(request.host)?.host ?? ''
  return [...documents.values()].flatMap((result) => {
    if (!('folded' in result)) return []
    const { id, hosts, versions } = result.folded
    const routes: readonly Route<InactivePath>[] = versions
      .filter(({ isActive }) => !isActive)
      .flatMap(({ name, paths }) =>
        paths.map(({ template, patterns, schemes }) => ({
          patterns,
          target: { version: name, template, schemes },
        })),
      )
    const editor = edit(emptyTable<InactivePath>())
    editor.put({ id, rank: 0, since: 0, hosts, routes })
    const found = match(editor.done(), host, request.path)
    if (found === undefined || found === 'malformed') return []
    const [first] = found.candidates
    return first === undefined
      ? []
      : [{ document: id, version: first.target.version, path: first.target.template }]
  })
}
