import { describe, expect, it } from '@jest/globals'
import { createPerformer } from '../../../dataplane/actions/action-table.ts'
import type { WampEnvironment } from '../../../dataplane/actions/wamp/environment.ts'
import type { PoolScope } from '../../../dataplane/upstream/limiter.ts'
import type { Upstream } from '../../../dataplane/upstream/upstream.ts'
import { actionResponse, type ActionType } from '../../../language/compile/action.ts'
import { type ActionResponse, NO_BODY } from '../../../language/compile/action-response.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import { constant } from '../../../language/expression/template.ts'
import { compiledPath } from '../../language/documents.ts'
import { probeExchange } from './exchange-probe.ts'

const environment = {
  forward: { upstream: {} as Upstream, scope: {} as PoolScope, callTimeoutMs: () => 1000 },
  wamp: {} as WampEnvironment,
}

const operationsOf = (path: object) => compiledPath({ paths: { '/x': path } }).operations

const getOf = (action: object, response: object = {}): CompiledOperation => {
  const { get } = operationsOf({ get: { action, response } })
  if (get === undefined) throw new Error('there is no GET')
  return get
}

type Responds = Partial<ActionResponse>

/** Of what a document writes itself. */
const OURS: Responds = {
  headers: undefined,
  givesStatus: false,
  isFixed: true,
  checksAccept: true,
  takesBody: false,
  events: 'none',
}

const ROUTERS: Responds = {
  ...OURS,
  isFixed: false,
  body: { kind: 'read', root: 'action', keys: ['result'] },
}

interface Row {
  readonly action: object
  readonly responds: Responds
}

/** Complete by type. */
const ROWS = Object.entries({
  static: {
    action: { type: 'static', headers: { a: 'b' }, body: 'x' },
    responds: { ...OURS, headers: constant({ a: 'b' }), body: constant('x') },
  },
  forward: {
    action: { type: 'forward', host: 'a' },
    responds: {
      headers: undefined,
      body: { kind: 'read', root: 'action', keys: ['result', 'body'] },
      givesStatus: true,
      isFixed: false,
      checksAccept: false,
      takesBody: true,
      events: 'none',
    },
  },
  wamp_call: {
    action: { type: 'wamp_call', procedure: 'a.b' },
    responds: { ...ROUTERS, events: 'finite' },
  },
  wamp_publish: { action: { type: 'wamp_publish', topic: 'a.b' }, responds: ROUTERS },
  wamp_subscribe: {
    action: { type: 'wamp_subscribe', topic: 'a.b' },
    responds: { ...ROUTERS, events: 'endless' },
  },
  wamp_unsubscribe: { action: { type: 'wamp_unsubscribe', args: [1] }, responds: ROUTERS },
  wamp_register: { action: { type: 'wamp_register', procedure: 'a.b' }, responds: ROUTERS },
  wamp_unregister: { action: { type: 'wamp_unregister', args: [1] }, responds: ROUTERS },
} satisfies Record<Exclude<ActionType, 'empty' | 'docs_file'>, Row>)

describe('createPerformer', () => {
  it('an empty action succeeds with nothing', () => {
    const { options } = operationsOf({ options: { action: {} } })
    if (options === undefined) throw new Error('there is no OPTIONS')
    const exchange = probeExchange()
    createPerformer(options, environment)(exchange)
    expect(exchange.results).toEqual([{}])
  })

  it.each(ROWS)('%s has a performer', (_, { action }) => {
    expect(createPerformer(getOf(action), environment)).toBeInstanceOf(Function)
  })
})

describe('actionResponse', () => {
  it.each(ROWS)('%s', (_, { action, responds }) => {
    expect(actionResponse(getOf(action))).toMatchObject(responds)
  })

  it('empty', () => {
    const { options } = operationsOf({ options: { action: {} } })
    if (options === undefined) throw new Error('there is no OPTIONS')
    expect(actionResponse(options)).toMatchObject({ ...OURS, body: NO_BODY })
  })

  it('gives a forward whose body somebody reads or sets to what reads and sets it', () => {
    const forward = { type: 'forward', host: 'a', body: '{{request.body}}' }
    const response = { on_result: { body: '{{action.result.body.x}}' } }
    expect(actionResponse(getOf(forward, response))).toMatchObject({
      checksAccept: true,
      takesBody: false,
    })
  })

  it('leaves the body of an action of the router to an on_result', () => {
    const call = { type: 'wamp_call', procedure: 'a.b' }
    expect(actionResponse(getOf(call, { on_result: {} }))).toMatchObject({ body: NO_BODY })
  })
})
