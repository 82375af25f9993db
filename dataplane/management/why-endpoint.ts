// Serves `GET /why/:id`: how requests with this id were decided, as the serving processes have kept it (behaviour §8).

import { isRequestId } from '../http/request/request-id.ts'
import { sendText } from './respond.ts'
import type { Endpoint } from './endpoint.ts'
import { ManagementError } from './management-error.ts'

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
    const answers = replies.filter((reply) => reply !== undefined)
    const decisions = answers.flat().slice(0, MOST_DECISIONS)
    if (decisions.length === 0) throw notKept(replies.length - answers.length)
    const processes = JSON.stringify({ asked: replies.length, answered: answers.length })
    sendText(res, 200, `{"decisions":[${decisions.join(',')}],"processes":${processes}}`)
  },
})

/** Of all processes: proxies may send one id several times. */
const MOST_DECISIONS = 32

const notKept = (silent: number): ManagementError =>
  new ManagementError(404, 'svc.error.not_found', 'No decision is kept for this request id', {
    description:
      'Kept are failures and one success in a hundred, for 15 minutes at most, fewer under many failures, by the process that has served them, until it ends: ask the other gateways too.' +
      (silent === 0
        ? ''
        : ` ${silent} serving processes of this gateway have not replied in time.`),
  })
