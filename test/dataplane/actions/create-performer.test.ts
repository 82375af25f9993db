import { describe, expect, it } from '@jest/globals'
import { createPerformer } from '../../../dataplane/actions/create-performer.ts'
import type { WampEnvironment } from '../../../dataplane/actions/wamp/environment.ts'
import type { PoolScope } from '../../../dataplane/upstream/limiter.ts'
import type { Upstream } from '../../../dataplane/upstream/upstream.ts'
import { compiledPath } from '../../language/documents.ts'
import { probeExchange } from './exchange-probe.ts'

const environment = {
  forward: { upstream: {} as Upstream, scope: {} as PoolScope, callTimeoutMs: () => 1000 },
  wamp: {} as WampEnvironment,
}

const operationsOf = (path: object) => compiledPath({ paths: { '/x': path } }).operations

describe('createPerformer', () => {
  it('an empty action succeeds with nothing', () => {
    const { options } = operationsOf({ options: { action: {} } })
    if (options === undefined) throw new Error('there is no OPTIONS')
    const exchange = probeExchange()
    createPerformer(options, environment)(exchange)
    expect(exchange.results).toEqual([{}])
  })

  it.each([
    ['static', { type: 'static' }],
    ['forward', { type: 'forward', host: 'a' }],
    ['wamp_call', { type: 'wamp_call', procedure: 'a.b' }],
    ['wamp_publish', { type: 'wamp_publish', topic: 'a.b' }],
    ['wamp_subscribe', { type: 'wamp_subscribe', topic: 'a.b' }],
    ['wamp_unsubscribe', { type: 'wamp_unsubscribe', args: [1] }],
    ['wamp_register', { type: 'wamp_register', procedure: 'a.b' }],
    ['wamp_unregister', { type: 'wamp_unregister', args: [1] }],
  ])('%s has a performer', (_, action) => {
    const { get } = operationsOf({ get: { action } })
    if (get === undefined) throw new Error('there is no GET')
    expect(createPerformer(get, environment)).toBeInstanceOf(Function)
  })
})
