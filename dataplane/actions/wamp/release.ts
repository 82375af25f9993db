// Implements the `wamp_unregister` and `wamp_unsubscribe` actions (behaviour §4), which end what was registered or
// subscribed for a callback, by the id in `args`.

import type {
  WampUnregisterAction,
  WampUnsubscribeAction,
} from '../../../language/compile/wamp-action.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import { evaluator } from '../../../language/expression/run.ts'
import type { Value } from '../../../language/expression/value.ts'
import type { DurableKind } from '../../wamp/realm/wamp-client.ts'
import { prepareLimits } from '../call-limits.ts'
import type { Perform } from '../performer.ts'
import { checkArgs, invalid, invalidRequest } from './validate.ts'
import type { WampEnvironment } from './environment.ts'
import { failingOnWampErrors } from './failure.ts'
import { runOperation } from './operation.ts'

type ReleaseAction = WampUnregisterAction | WampUnsubscribeAction

const DURABLE = {
  wamp_unregister: { kind: 'registration', unknown: 'wamp.error.no_such_registration' },
  wamp_unsubscribe: { kind: 'subscription', unknown: 'wamp.error.no_such_subscription' },
} as const satisfies Record<
  ReleaseAction['type'],
  { readonly kind: DurableKind; readonly unknown: string }
>

/** @throws (the performer) ExpressionError */
export const prepareWampRelease = (
  { action, limits }: Pick<CompiledOperation, 'limits'> & { readonly action: ReleaseAction },
  environment: WampEnvironment,
): Perform => {
  const { kind, unknown } = DURABLE[action.type]
  const members = [action.uri, action.options, action.kwargs]
  const others = members.filter((template) => template !== undefined).map(evaluator)
  const args = evaluator(action.args)
  const timesOf = prepareLimits(limits, environment.callTimeoutMs)
  return failingOnWampErrors((exchange) => {
    const { context } = exchange
    // They have no effect, but their errors are reported.
    for (const evaluate of others) evaluate(context)
    const evaluated = args(context)
    const { timeoutMs } = timesOf(context)
    const id = idOf(kind, evaluated)
    runOperation(
      exchange,
      environment,
      { timeoutMs, connectTimeoutMs: 0 },
      {
        start: async () => {
          if (await environment.client().release(kind, id)) return
          throw invalidRequest(unknown, `there is no ${kind} ${id} in this realm`)
        },
        view: () => ({}),
      },
    )
  })
}

/** A number, or its decimal text, as in paths and queries. */
const idOf = (kind: DurableKind, value: Value): number => {
  const [first, ...rest] = checkArgs(value)
  const id = typeof first === 'string' && /^\d{1,16}$/.test(first) ? Number(first) : first
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 && rest.length === 0) return id
  throw invalid(`args: expected the id of the ${kind}, and nothing else`)
}
