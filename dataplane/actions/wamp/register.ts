// Implements the `wamp_register` action (behaviour §4), which registers a procedure whose invocations are posted to
// the URL in `kwargs.callback`.

import type { WampRegisterAction } from '../../../language/compile/wamp-action.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import { callbackOf } from './callback/url.ts'
import type { Perform } from '../performer.ts'
import type { WampEnvironment } from './environment.ts'
import { failingOnWampErrors } from './failure.ts'
import { runOperation } from './operation.ts'
import { prepareWampRequest } from './request.ts'

/** @throws (the performer) ExpressionError */
export const prepareWampRegister = (
  operation: Pick<CompiledOperation, 'limits'> & { readonly action: WampRegisterAction },
  environment: WampEnvironment,
): Perform => {
  const { client, callbacks, realm, realmUri, confinedTo, callTimeoutMs } = environment
  const read = prepareWampRequest('register', operation, environment)
  return failingOnWampErrors((exchange) => {
    const { uri, options, kwargs, times } = read(exchange.context)
    const url = callbackOf(kwargs, realm(), realmUri)
    runOperation(exchange, environment, times, {
      subject: uri,
      start: () =>
        client().register({
          procedure: uri,
          options: options.sent,
          handler: callbacks.invocations({
            url,
            confinedTo,
            rules: realm,
            timeoutMs: callTimeoutMs,
          }),
          callback: url.shown,
        }),
      view: ({ id }) => ({ registration_id: id }),
      undo: ({ id }) => client().release('registration', id),
    })
  })
}
