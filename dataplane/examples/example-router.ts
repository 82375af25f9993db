// Stands for the WAMP router of an example: it sends nothing, and answers with what the example gives.

import type { ExampleResult } from '../../language/examples/example.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { DurableHandle, WampClient } from '../wamp/realm/wamp-client.ts'
import { peerError, WampError, type WampEvent } from '../wamp/session/joined-session.ts'
import type { GivenResults } from './given-results.ts'

/** @param onEventsOver called when a topic that is followed has no further event */
export const createExampleRouter = (given: GivenResults, onEventsOver: () => void): WampClient => ({
  callTimeoutUnit: undefined,
  awaitSession: () => undefined,
  call: ({ procedure, args, kwargs, options }, handler) => {
    const result = given.next({ procedure, args, kwargs, options })
    let isCancelled = false
    setImmediate(() => {
      if (isCancelled) return
      const error = errorOf(result)
      if (error === undefined) handler.onResult({ requestId: 1, ...payloadOf(result) })
      else handler.onFailure(error)
    })
    return {
      cancel: () => {
        isCancelled = true
      },
    }
  },
  publish: (topic, { args, kwargs }, options) =>
    settle(given, { topic, args, kwargs, options }, { publicationId: 1 }),
  register: ({ procedure, options, callback }) => durable(given, { procedure, options, callback }),
  subscribe: ({ topic, options, callback }) => durable(given, { topic, options, callback }),
  release: (kind, id) => settle(given, { kind, id }, true),
  follow: (topic, options, follower) => {
    const events = given.events({ topic, options })
    let isOver = false
    setImmediate(() => {
      if (isOver) return
      follower.onFollowed(1)
      for (const [index, each] of events.entries())
        follower.onEvent(eventOf(each, index + 1, topic))
      onEventsOver()
    })
    return {
      end: () => {
        isOver = true
      },
    }
  },
})

const durable = (given: GivenResults, sent: Value): Promise<DurableHandle> =>
  settle(given, sent, { id: 1 })

/** What the example says of the result is in its error alone: ids are always 1. */
const settle = <T>(given: GivenResults, sent: Value, value: T): Promise<T> => {
  const error = errorOf(given.next(sent))
  return error === undefined ? Promise.resolve(value) : Promise.reject(error)
}

interface ResultPayload {
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
  readonly details: ValueMap
}

const payloadOf = ({
  args = [],
  kwargs = {},
  details = {},
}: ExampleResult = {}): ResultPayload => ({
  args,
  kwargs,
  details,
})

const eventOf = (result: ExampleResult, publicationId: number, topic: string): WampEvent => {
  const { args, kwargs, details } = payloadOf(result)
  return { publicationId, args, kwargs, details: { topic, ...details } }
}

/** Those of the gateway itself are told apart from those of a peer by their names. */
const errorOf = (result: ExampleResult | undefined): WampError | undefined => {
  if (result === undefined)
    return new WampError('wamp.error.net_failure', 'the example gives no result for this attempt')
  const { error } = result
  if (error === undefined) return undefined
  const { error_uri: uri, ...more } = error
  return isGatewayError(uri)
    ? new WampError(uri, `the example gives ${uri}`)
    : peerError(uri, '', more)
}

const GATEWAY_ERRORS = [
  'svc.error.bad_gateway',
  'svc.error.overloaded',
  'svc.error.timeout',
  'wamp.error.net_failure',
  'wamp.error.no_such_realm',
] as const

const isGatewayError = (uri: string): uri is (typeof GATEWAY_ERRORS)[number] =>
  (GATEWAY_ERRORS as readonly string[]).includes(uri)
