// Describes a sequence of requests for a person, as the fuzzer prints it with a failure.

import type { RequestPlan, SequencePlan } from './plan.ts'
import type { Wait } from './waits.ts'

/** @example describeSequence(plan) // 'https, pool of 2\n caller 1\n  1 GET …' */
export const describeSequence = (plan: SequencePlan): string =>
  [
    `${plan.isSecure ? 'https' : 'http'}, pool of ${plan.poolSize}${plan.isMemoryShort ? ', memory short' : ''}`,
    ...plan.callers.flatMap((requests, index) => [
      ` caller ${index + 1}`,
      ...requests.map((each) => `  ${describeRequest(each)}`),
    ]),
  ].join('\n')

const describeRequest = ({
  number,
  caller,
  answersAt,
  readsBody,
  response,
}: RequestPlan): string => {
  const { method, body, abortsAt, pauseEvery } = caller
  const sent =
    body.kind === 'none'
      ? ''
      : ` ${body.kind} of ${body.bytes.length}/${body.pieceBytes} ${shown(body.wait)}${body.fault === 'none' ? '' : ` ${body.fault}`}`
  const pauses =
    pauseEvery === 0 ? '' : ` pauses at each ${pauseEvery} for ${shown(caller.resumeAfter)}`
  const aborts =
    abortsAt === 'never' ? '' : ` aborts at ${abortsAt} after ${shown(caller.abortAfter)}`
  const answered = ` answered at ${answersAt}${readsBody ? '' : ' unread'}: ${response.words}`
  const pieces = `, ${response.pieces.length} pieces ${shown(response.wait)} then after ${shown(response.thenAfter)}`
  return `${number} ${method}${sent}${pauses} recycles ${caller.recycles}${aborts}${answered}${pieces}, next after ${shown(caller.nextAfter)}`
}

const shown = ({ turns, ms }: Wait): string => (ms > 0 ? `${ms}ms` : `${turns}t`)
