// Makes operations of documents for the WAMP component tests from what they call or follow; the rest is the same
// everywhere.

import type { Operation } from '../gateway-client.ts'

/** Answers with the arguments of the result. Those of the call are the request's `args`. */
export const calls = (procedure: string, action: object = {}, onResult?: object): Operation => ({
  action: { type: 'wamp_call', procedure, args: '{{request.body.args}}', ...action },
  response: { on_result: onResult ?? { body: '{{action.result.args}}' } },
})

/** Events have the arguments as data, behind a mark that tells one document from another. */
export const follows = (topic: string, mark = '', options: object = {}): Operation => ({
  action: { type: 'wamp_subscribe', topic, options },
  response: { on_result: { body: `${mark}{{action.result.args |> json:encode}}` } },
})

/** Of the request's `args`. */
export const publishes = (topic: string, options: object = {}): Operation => ({
  action: { type: 'wamp_publish', topic, args: '{{request.body.args}}', options },
  response: { on_result: { body: '{{action.result}}' } },
})

/** At the request's `callback`. */
export const registers = (procedure: string): Operation => ({
  action: {
    type: 'wamp_register',
    procedure,
    kwargs: { callback: '{{request.body.callback}}' },
  },
  response: { on_result: { body: '{{action.result}}' } },
})

/** Events go to the request's `callback`. */
export const subscribes = (topic: string): Operation => ({
  action: { type: 'wamp_subscribe', topic, kwargs: { callback: '{{request.body.callback}}' } },
  response: { on_result: { body: '{{action.result}}' } },
})

/** The request's `id`. */
export const releases = (type: 'wamp_unregister' | 'wamp_unsubscribe'): Operation => ({
  action: { type, args: ['{{request.body.id}}'] },
  response: {},
})
