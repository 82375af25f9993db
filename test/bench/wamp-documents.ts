// What is called and followed in the benchmarks of WAMP.

import { STATIC_BODY } from './documents.ts'

export const PROCEDURE = 'com.bench.item'
/** One for each way of serving its events, so that nothing else has work with them. */
export const TOPICS = {
  writer: 'com.bench.writer',
  shared: 'com.bench.shared',
  own: 'com.bench.own',
} as const

/** Clients that follow a topic at a time. */
export const STREAMS = 1000

/** What is published: it holds one `~`, by which events are counted. */
export const PUBLISHED = { ...STATIC_BODY, mark: '~' }

/** Both bodies are the same bytes for this listener. */
export const LISTENER = 'everyone'

/** The data of one event. */
export const EVENT_DATA = JSON.stringify({ listener: LISTENER, event: PUBLISHED })

/** The body of a call as Crossbar's HTTP bridge wants it. */
export const BRIDGE_CALL = JSON.stringify({ procedure: PROCEDURE, args: ['7'] })

/** Streams of the topic: rendered once for all, or for each, by what the body reads. */
const follow = (topic: string, listener: string): object => ({
  get: {
    action: { type: 'wamp_subscribe', topic },
    response: { on_result: { body: { listener, event: '{{action.result.args |> head}}' } } },
  },
})

export const wampDocument = (realm: string): object => ({
  id: 'bench.wamp',
  host: '_',
  realm_uri: realm,
  versions: {
    v1: {
      base_path: '/v1',
      // As many as there are connections in any table: none is turned away.
      pool_size: 2000,
      paths: {
        '/items/:id': {
          get: {
            action: { type: 'wamp_call', procedure: PROCEDURE, args: ['{{request.bindings.id}}'] },
            response: { on_result: { body: '{{action.result.args |> head}}' } },
          },
        },
        '/call': {
          post: {
            action: {
              type: 'wamp_call',
              procedure: '{{request.body.procedure}}',
              args: '{{request.body.args}}',
            },
            response: { on_result: { body: { args: '{{action.result.args}}' } } },
          },
        },
        '/shared': follow(TOPICS.shared, LISTENER),
        '/own/:listener': follow(TOPICS.own, '{{request.bindings.listener}}'),
      },
    },
  },
})
