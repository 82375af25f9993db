// Implements the `wamp_subscribe` action (behaviour §4), which responds with the events of a topic or, if
// `kwargs.callback` names a URL, has them posted there until they are unsubscribed.

import type { WampSubscribeAction } from '../../../language/compile/wamp-action.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { WampEvent } from '../../wamp/session/joined-session.ts'
import { callbackOf, refuseOthers } from './callback/url.ts'
import type { Exchange, Perform } from '../performer.ts'
import type { WampEnvironment } from './environment.ts'
import { failingOnWampErrors } from './failure.ts'
import { runOperation } from './operation.ts'
import { prepareWampRequest, type WampRequest } from './request.ts'
import { Streaming, type StreamTools } from './event-stream.ts'

/** @throws (the performer) ExpressionError, GatewayError `svc.error.not_acceptable` */
export const prepareWampSubscribe = (
  operation: Pick<CompiledOperation, 'limits'> & { readonly action: WampSubscribeAction },
  environment: WampEnvironment,
): Perform => {
  const { client, calls, deadlines } = environment
  const tools: StreamTools = { client, calls, deadlines, view: rememberingView() }
  const read = prepareWampRequest('subscribe', operation, environment)
  return failingOnWampErrors((exchange) => {
    const request = read(exchange.context)
    if (Object.hasOwn(request.kwargs, 'callback')) {
      subscribeCallback(exchange, environment, request)
      return
    }
    refuseOthers(request.kwargs)
    if (exchange.eventStreams === 'refused') throw notAcceptable()
    new Streaming(exchange, tools).start(
      { uri: request.uri, options: request.options.sent },
      request.times,
    )
  })
}

const subscribeCallback = (
  exchange: Exchange,
  environment: WampEnvironment,
  { uri, options, kwargs, times }: WampRequest,
): void => {
  const { client, callbacks, realm, confinedTo, callTimeoutMs } = environment
  const url = callbackOf(kwargs, realm(), environment.realmUri)
  runOperation(exchange, environment, times, {
    subject: uri,
    start: () =>
      client().subscribe({
        topic: uri,
        options: options.sent,
        ...callbacks.events({ url, confinedTo, rules: realm, timeoutMs: callTimeoutMs }),
        callback: url.shown,
      }),
    view: ({ id }) => ({ subscription_id: id }),
    undo: ({ id }) => client().release('subscription', id),
  })
}

const notAcceptable = (): GatewayError =>
  new GatewayError('svc.error.not_acceptable', 'None of the types in Accept can be served here', {
    description: 'This operation serves text/event-stream.',
  })

/**
 * All followers of a topic get the same event object one after the other, in one tick. Its view is not cached longer:
 * an event may have megabytes, and be the last one for days.
 */
const rememberingView = (): ((event: WampEvent) => ValueMap) => {
  let last: WampEvent | undefined
  let view: ValueMap = {}
  const forget = (): void => {
    last = undefined
    view = {}
  }
  return (event) => {
    if (event !== last) {
      if (last === undefined) queueMicrotask(forget)
      const { publicationId, args, kwargs, details } = event
      view = { publication_id: publicationId, args, kwargs, details }
      last = event
    }
    return view
  }
}
