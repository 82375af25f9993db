// Serves `/why/ID` of the operator: it asks all gateways how a request with this id was decided.

import type { FleetDecisions } from '../fleet/find-decisions.ts'
import type { LeaderRecord } from './leader-record.ts'
import { errorPage, type Page, type Pages } from './page.ts'

export interface WhySources {
  /** undefined: another operator leads, or nothing has been read yet. */
  readonly find: (id: string) => Promise<FleetDecisions> | undefined
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
}

/** @example startStatusServer(address, 'people', { ...statusPages(sources), ...whyPage({ find }) }) */
export const whyPage = ({ find, leader }: WhySources): Pages => ({
  '/why/:id': async (id = ''): Promise<Page> => {
    if (!REQUEST_ID.test(id))
      return errorPage(400, 'svc.error.invalid_data', 'This is not a request id', ID_HINT)
    const found = await find(id)
    if (found === undefined)
      return { fault: leader?.().message ?? 'the gateways are not known yet: ask again' }
    if (found.gateways.length > 0) return { json: found }
    const { asked, answered } = found
    return errorPage(
      404,
      'svc.error.not_found',
      `${answered} of ${asked} gateways have answered, and none keeps a decision for this request id`,
      KEPT_HINT,
    )
  },
})

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
const ID_HINT = 'An id has 1 to 128 visible ASCII characters: X-Request-Id of the response.'
const KEPT_HINT =
  'The process that served a request keeps the decision about it, of each failure and of one success in a hundred: for 15 minutes at most, for less time under many failures, and until it ends.'
