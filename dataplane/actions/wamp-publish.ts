// The `wamp_publish` action (behaviour §4): an operation in, a performer out that publishes, waits for the
// router's acknowledgement and reports the id of the publication.

import type { CompiledOperation, WampPublishAction } from '../../spec/compiled.ts'
import { prepareLimits } from './call-limits.ts'
import type { Perform } from './performer.ts'
import type { WampEnvironment } from './wamp-environment.ts'
import { failingOnFaults } from './wamp-failure.ts'
import { withCaller } from './wamp-identity.ts'
import { runOperation } from './wamp-operation.ts'
import { prepareWampRequest } from './wamp-request.ts'

/**
 * Is never repeated: nobody could tell two publications from one.
 *
 * @throws (the performer) ExpressionError
 */
export const prepareWampPublish = (
  { action, limits }: Pick<CompiledOperation, 'limits'> & { readonly action: WampPublishAction },
  environment: WampEnvironment,
): Perform => {
  const { client, realmUri } = environment
  const reader = prepareWampRequest('publish', action)
  const timesOf = prepareLimits(limits, environment.callTimeoutMs)
  return failingOnFaults((exchange) => {
    const { context } = exchange
    const evaluated = reader.evaluate(context)
    const times = timesOf(context)
    const { uri, options, args, kwargs } = reader.check(evaluated)
    const { sent, forwardsIdentity } = options
    const payload = {
      args,
      kwargs: forwardsIdentity ? withCaller(kwargs, context.security, realmUri) : kwargs,
    }
    runOperation(exchange, environment, options.timeoutMs || times.timeoutMs, {
      subject: uri,
      start: () => client().publish(uri, payload, sent),
      view: ({ publicationId }) => ({ publication_id: publicationId }),
    })
  })
}
