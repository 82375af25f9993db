// WAMP actions while no bridge is built in: every call fails as if the router of the realm were away.
// Expressions are evaluated first, so that their faults are seen.

import { evaluator } from '../../spec/expression/run.ts'
import type { Template } from '../../spec/expression/template.ts'
import type { ActionError, Perform } from './performer.ts'

interface WampTemplates {
  readonly uri?: Template
  readonly options: Template
  readonly args: Template
  readonly kwargs: Template
}

/** @param hasRealm false once the realm of the document has been deleted */
export const prepareWampAway = (action: WampTemplates, hasRealm: () => boolean): Perform => {
  const { uri, options, args, kwargs } = action
  const parts = [uri, options, args, kwargs]
    .filter((template) => template !== undefined)
    .map(evaluator)
  return (exchange) => {
    for (const evaluate of parts) evaluate(exchange.context)
    exchange.fail(
      hasRealm()
        ? wampError('wamp.error.net_failure', 'The WAMP router of the realm is not reachable')
        : wampError('wamp.error.no_such_realm', 'The realm of this API does not exist any more'),
    )
  }
}

const wampError = (errorUri: string, message: string): ActionError => ({
  error_uri: errorUri,
  args: [],
  kwargs: {},
  details: {},
  status_code: 502,
  headers: {},
  body: '',
  message,
})
