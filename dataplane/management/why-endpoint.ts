// Serves `GET /why/:id`: how requests with this id were decided, as the serving processes have kept it, and `GET /why`:
// the latest failures (behaviour §8).

import { parseJson } from '../../base/parse-json.ts'
import { mergeNewest } from '../../web/merge-newest.ts'
import type { FailureQuery, KeptFailure } from '../decisions/decision-ring.ts'
import type { Decision } from '../decisions/decision.ts'
import { isRequestId } from '../http/request/request-id.ts'
import { describeDecision } from './describe-decision.ts'
import { sendText } from './respond.ts'
import type { Endpoint } from './endpoint.ts'
import { invalidArgument, ManagementError } from './management-error.ts'

/** JSON texts of `Decision` from each serving process; undefined: it has not replied in time. */
export type FindDecisions = (id: string) => Promise<readonly (readonly string[] | undefined)[]>

export const whyEndpoint = (find: FindDecisions): Endpoint => ({
  path: '/why/:id',
  get: async (req, res) => {
    const { id } = req.params
    if (typeof id !== 'string' || !isRequestId(id))
      throw new ManagementError(400, 'svc.error.invalid_data', 'This is not a request id', {
        description: 'An id has 1 to 128 visible ASCII characters: X-Request-Id of the response.',
      })
    const replies = await find(id)
    const received = replies.filter((reply) => reply !== undefined)
    const decisions = received.flat().slice(0, MOST_DECISIONS)
    if (decisions.length === 0) throw notKept(replies.length - received.length)
    const processes = JSON.stringify({ asked: replies.length, answered: received.length })
    sendText(
      res,
      200,
      `{"decisions":[${decisions.map(withSentences).join(',')}],"processes":${processes}}`,
    )
  },
})

/** Sentences are written where they are read, as the memory for decisions is small. @param text of a `Decision` */
const withSentences = (text: string): string => {
  const decision = parseJson(text) as Decision
  return JSON.stringify({ ...decision, sentences: describeDecision(decision) })
}

/** The most decisions of all processes for one id, which proxies may send several times. */
const MOST_DECISIONS = 32

const notKept = (silent: number): ManagementError =>
  new ManagementError(404, 'svc.error.not_found', 'No decision is kept for this request id', {
    description:
      'Kept are failures and one success in a hundred, for 15 minutes at most, fewer under many failures, by the process that has served them, until it ends: ask the other gateways too.' +
      (silent === 0
        ? ''
        : ` ${silent} serving processes of this gateway have not replied in time.`),
  })

/** The failures of each serving process, the newest first; undefined: it has not replied in time. */
export type FindFailures = (
  query: FailureQuery,
) => Promise<readonly (readonly KeptFailure[] | undefined)[]>

export const failuresEndpoint = (find: FindFailures): Endpoint => ({
  path: '/why',
  get: async (req, res) => {
    const query = readQuery(req.query)
    const replies = await find(query)
    const received = replies.filter((reply) => reply !== undefined)
    const { rows, next } = mergeNewest(received, query.limit)
    // Each text is that of an object with members.
    const failures = rows.map(
      ({ endedMs, text }) => `{"ended_ms":${endedMs},${withSentences(text).slice(1)}`,
    )
    const processes = JSON.stringify({ asked: replies.length, answered: received.length })
    sendText(
      res,
      200,
      `{"failures":[${failures.join(',')}],"next":${next},"processes":${processes}}`,
    )
  },
})

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 100
const MAX_TEXT = 256

const readQuery = (query: Readonly<Record<string, unknown>>): FailureQuery => {
  const { match = '', before, limit = String(DEFAULT_LIMIT) } = query
  if (typeof match !== 'string' || match.length > MAX_TEXT)
    throw invalidArgument(`match must be one text of at most ${MAX_TEXT} characters`)
  if (before !== undefined && (typeof before !== 'string' || !/^\d{1,15}$/.test(before)))
    throw invalidArgument('before must be what next was in the page before')
  if (typeof limit !== 'string' || !/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT)
    throw invalidArgument(`limit must be a whole number from 1 to ${MAX_LIMIT}`)
  return {
    match,
    limit: Number(limit),
    beforeMs: before === undefined ? undefined : Number(before),
  }
}
