import { describe, expect, it } from '@jest/globals'
import {
  createPerformer,
  type ActionEnvironment,
} from '../../../dataplane/actions/create-performer.ts'
import type { ForwardEnvironment } from '../../../dataplane/actions/forward.ts'
import { ExpressionError } from '../../../spec/expression/errors.ts'
import { compiledPath } from '../../spec/documents.ts'
import { probeExchange } from './exchange-probe.ts'

const environment = (hasRealm: boolean): ActionEnvironment => ({
  forward: {} as ForwardEnvironment,
  hasRealm: () => hasRealm,
})

const performerOf = (action: object, hasRealm = true) => {
  const { post } = compiledPath({ paths: { '/x': { post: { action } } } }).operations
  if (post === undefined) throw new Error('there is no POST')
  return createPerformer(post, environment(hasRealm))
}

const ACTIONS = [
  { type: 'wamp_call', procedure: 'a.b' },
  { type: 'wamp_publish', topic: 'a.b' },
  { type: 'wamp_subscribe', topic: 'a.b' },
  { type: 'wamp_unsubscribe', args: [1] },
  { type: 'wamp_register', procedure: 'a.b' },
  { type: 'wamp_unregister', args: [1] },
]

describe('WAMP actions while no router can be reached', () => {
  it.each(ACTIONS)('$type fails as the realm says', (action) => {
    for (const [hasRealm, uri] of [
      [true, 'wamp.error.net_failure'],
      [false, 'wamp.error.no_such_realm'],
    ] as const) {
      const exchange = probeExchange()
      performerOf(action, hasRealm)(exchange)
      expect(exchange.failures).toEqual([
        {
          error_uri: uri,
          args: [],
          kwargs: {},
          details: {},
          status_code: 502,
          headers: {},
          body: '',
          message: expect.any(String),
        },
      ])
      expect(exchange.results).toEqual([])
    }
  })

  it.each(['procedure', 'args', 'kwargs', 'options'])(
    'an expression of %s that fails is seen first',
    (name) => {
      const failing =
        name === 'procedure' ? '{{request.body.nope}}' : { a: '{{request.body.nope}}' }
      const action = {
        type: 'wamp_call',
        procedure: 'a.b',
        [name]: name === 'args' ? [failing] : failing,
      }
      expect(() => {
        performerOf(action)(probeExchange())
      }).toThrow(ExpressionError)
    },
  )
})
