// Implements the `wamp_call` action (specification §2.5, behaviour §4), which makes each request a call and its
// result the response.

import type { WampCallAction } from '../../../language/compile/wamp-action.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { SYSTEM_CLOCK } from '../../upstream/retry.ts'
import type { Exchange, Perform } from '../performer.ts'
import { Calling, type CallTools } from './call-run.ts'
import type { WampEnvironment } from './environment.ts'
import { failingOnWampErrors } from './failure.ts'
import type { CheckedOptions } from './options.ts'
import { prepareClient } from './client-for.ts'
import { prepareWampRequest } from './request.ts'

/**
 * The deadline is `options.timeout` if it is more than 0, otherwise `timeout`; it includes retries and their
 * back-off. If a client prefers `text/event-stream`, progressive results are events named `progress` and the last one
 * is named `result`; the deadline then applies up to the first result, and to each pause after it.
 *
 * @throws (the performer) ExpressionError
 */
export const prepareWampCall = (
  operation: Pick<CompiledOperation, 'limits'> & { readonly action: WampCallAction },
  environment: WampEnvironment,
): Perform => {
  const { client, calls, deadlines, clock = SYSTEM_CLOCK } = environment
  const tools: CallTools = { client, calls, deadlines, clock }
  const clientFor = prepareClient(environment)
  const toolsFor = (exchange: Exchange, options: CheckedOptions): CallTools => {
    const own = clientFor(exchange, options)
    return own === client ? tools : { ...tools, client: own }
  }
  const read = prepareWampRequest('call', operation, environment)
  return failingOnWampErrors((exchange) => {
    const { uri, options, args, kwargs, times } = read(exchange.context)
    const sent =
      options.timeoutMs === 0 ? options.sent : withTimeout(options, client().callTimeoutUnit)
    const request = { procedure: uri, options: sent, args, kwargs }
    new Calling(exchange, toolsFor(exchange, options), request, times).start()
  })
}

/** Routers disagree on the unit of `timeout`: it is sent if the realm's record names that unit. */
const withTimeout = (
  { sent, timeoutMs }: CheckedOptions,
  unit: 'ms' | 's' | undefined,
): ValueMap =>
  unit === undefined
    ? sent
    : { ...sent, timeout: unit === 's' ? Math.ceil(timeoutMs / 1000) : timeoutMs }
