// Implements the `wamp_publish` action (behaviour §4), which publishes, waits for the router's acknowledgement and
// reports the id of the publication.

import type { WampPublishAction } from '../../../language/compile/wamp-action.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import type { Perform } from '../performer.ts'
import type { WampEnvironment } from './environment.ts'
import { prepareClient } from './client-for.ts'
import { failingOnWampErrors } from './failure.ts'
import { runOperation } from './operation.ts'
import { prepareWampRequest } from './request.ts'

/**
 * It is never retried, as a subscriber could not recognise a repeated publication.
 *
 * @throws (the performer) ExpressionError
 */
export const prepareWampPublish = (
  operation: Pick<CompiledOperation, 'limits'> & { readonly action: WampPublishAction },
  environment: WampEnvironment,
): Perform => {
  const read = prepareWampRequest('publish', operation, environment)
  const clientFor = prepareClient(environment)
  return failingOnWampErrors((exchange) => {
    const { uri, options, args, kwargs, times } = read(exchange.context)
    const client = clientFor(exchange, options)
    runOperation(exchange, environment, times, {
      subject: uri,
      start: () => client().publish(uri, { args, kwargs }, options.sent),
      view: ({ publicationId }) => ({ publication_id: publicationId }),
    })
  })
}
