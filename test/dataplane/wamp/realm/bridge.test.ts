import { describe, expect, it } from '@jest/globals'
import { createLog } from '../../../../telemetry/log.ts'
import type { BridgeChange } from '../../../../dataplane/wamp/realm/wamp-client.ts'
import { createBridge } from '../../../../dataplane/wamp/realm/bridge.ts'
import type { Payload } from '../../../../dataplane/wamp/protocol/messages.ts'
import { settled } from '../../../support/settled.ts'
import {
  change,
  createScene,
  document,
  errorOf,
  joinedScene,
  linkAt,
  REALM,
  realm,
  URL_ONE,
  URL_TWO,
} from '../scripted-links.ts'

const call = { procedure: 'com.acme.add', args: [1], kwargs: {}, options: {} }
const handler = { onResult: () => undefined, onFailure: () => undefined }

interface Step {
  readonly change: BridgeChange
  readonly open: readonly string[]
}

const BOTH = change({ put: [document()], realms: [realm()] })

const MATRIX: readonly (readonly [string, readonly Step[]])[] = [
  ['a realm alone opens nothing', [{ change: change({ realms: [realm()] }), open: [] }]],
  ['a document alone opens nothing', [{ change: change({ put: [document()] }), open: [] }]],
  ['a document in a realm opens', [{ change: BOTH, open: [URL_ONE] }]],
  [
    'a document first, its realm later',
    [
      { change: change({ put: [document()] }), open: [] },
      { change: change({ realms: [realm()] }), open: [URL_ONE] },
    ],
  ],
  [
    'no active version is no use',
    [
      {
        change: change({ put: [document('orders', 'com.acme', [])], realms: [realm()] }),
        open: [],
      },
      { change: change({ put: [document()] }), open: [URL_ONE] },
      { change: change({ put: [document('orders', 'com.acme', [])] }), open: [] },
    ],
  ],
  [
    'a second document opens nothing more, the last one closes',
    [
      { change: BOTH, open: [URL_ONE] },
      { change: change({ put: [document('two')] }), open: [URL_ONE] },
      { change: change({ remove: ['orders'] }), open: [URL_ONE] },
      { change: change({ remove: ['orders'] }), open: [URL_ONE] },
      { change: change({ remove: ['two'] }), open: [] },
    ],
  ],
  [
    'a document that is loaded again keeps them',
    [
      { change: BOTH, open: [URL_ONE] },
      { change: change({ put: [document()], remove: ['orders'] }), open: [URL_ONE] },
    ],
  ],
  [
    'a document moves to another realm',
    [
      {
        change: change({ put: [document()], realms: [realm(), realm(URL_TWO, 'b')] }),
        open: [URL_ONE],
      },
      { change: change({ put: [document('orders', 'b')] }), open: [URL_TWO] },
    ],
  ],
  [
    'a realm without router, then with, then without',
    [
      { change: change({ put: [document()], realms: [{ uri: 'com.acme' }] }), open: [] },
      { change: change({ realms: [realm()] }), open: [URL_ONE] },
      { change: change({ realms: [{ uri: 'com.acme' }] }), open: [] },
    ],
  ],
  [
    'a deleted realm closes, put again it opens',
    [
      { change: BOTH, open: [URL_ONE] },
      { change: change({ deleted: ['com.acme'] }), open: [] },
      { change: change({ realms: [realm()] }), open: [URL_ONE] },
    ],
  ],
  [
    'put and deleted in one change: deleted',
    [{ change: change({ put: [document()], realms: [realm()], deleted: ['com.acme'] }), open: [] }],
  ],
  [
    'a record that says the same of its router opens nothing',
    [
      { change: BOTH, open: [URL_ONE] },
      {
        change: change({ realms: [{ ...realm(), call_timeout: 5, groups: ['a'] }] }),
        open: [URL_ONE],
      },
    ],
  ],
  [
    'another router replaces them',
    [
      { change: BOTH, open: [URL_ONE] },
      { change: change({ realms: [realm(URL_TWO)] }), open: [URL_TWO] },
    ],
  ],
  [
    'several addresses make one link',
    [
      {
        change: change({
          put: [document()],
          realms: [{ uri: 'com.acme', router: { url: URL_ONE, urls: [URL_TWO, URL_ONE] } }],
        }),
        open: [`${URL_ONE},${URL_TWO}`],
      },
    ],
  ],
  [
    'a pool of three',
    [
      {
        change: change({
          put: [document()],
          realms: [{ uri: 'com.acme', router: { urls: [URL_ONE], pool: 3 } }],
        }),
        open: [URL_ONE, URL_ONE, URL_ONE],
      },
    ],
  ],
]

describe('changes of what is served', () => {
  it.each(MATRIX)('%s', (_what, steps) => {
    const scene = createScene()

    const seen = steps.map((step) => {
      scene.bridge.follow(step.change)
      return scene.open()
    })

    expect(seen).toEqual(steps.map(({ open }) => open))
  })

  it.each(['__proto__', 'constructor', 'toString'])('takes %s as any other name', (name) => {
    const scene = createScene()

    scene.bridge.follow(change({ put: [document(name, name)], realms: [realm(URL_ONE, name)] }))
    linkAt(scene, 0).join()
    scene.bridge.clientOf(name).call(call, handler)
    const opened = scene.bridge.status().map(({ realmUri }) => realmUri)
    scene.bridge.follow(change({ remove: [name], deleted: [name] }))

    expect(opened).toEqual([name])
    expect(scene.links[0]?.options.realmUri).toBe(name)
    expect(scene.bridge.status()).toEqual([])
  })

  it.each(['__proto__', 'constructor'])('knows no realm %s by itself', async (name) => {
    const client = createScene().bridge.clientOf(name)

    const error = await errorOf(() => client.call(call, handler))

    expect(error.uri).toBe('wamp.error.no_such_realm')
    expect(client.callTimeoutUnit).toBeUndefined()
  })

  it('never throws at who follows, and says what went wrong', () => {
    const lines: string[] = []
    const bridge = createBridge({
      openLink: () => {
        throw new Error('out of file descriptors')
      },
      log: createLog({
        level: 'error',
        name: 'test',
        destination: { write: (line) => lines.push(line) },
      }),
      onStatus: () => undefined,
      releaseElsewhere: () => Promise.resolve(false),
    })

    bridge.follow(BOTH)

    expect(lines.join()).toContain('out of file descriptors')
    expect(bridge.status()).toEqual([{ realmUri: 'com.acme', sessions: [], durable: [] }])
  })

  it('finds out what a call timeout is sent in', () => {
    const scene = createScene()
    const client = scene.bridge.clientOf('com.acme')

    const before = client.callTimeoutUnit
    scene.bridge.follow(
      change({ realms: [{ uri: 'com.acme', router: { url: URL_ONE, call_timeout_unit: 's' } }] }),
    )

    expect([before, client.callTimeoutUnit]).toEqual([undefined, 's'])
  })
})

describe('status', () => {
  it('shows sessions without user info', () => {
    const scene = createScene()
    scene.bridge.follow(change({ put: [document()], realms: [realm('ws://me:secret@one/ws')] }))
    linkAt(scene, 0).turn('refused', 'wamp.error.not_authorized')

    expect(scene.bridge.status()).toEqual([
      {
        realmUri: 'com.acme',
        sessions: [{ url: 'ws://one/ws', state: 'refused', reason: 'wamp.error.not_authorized' }],
        durable: [],
      },
    ])
  })

  it('is notified once a tick, however much has changed, and not without a change', async () => {
    const scene = createScene()
    scene.bridge.follow(change({ put: [document('a')], realms: [realm()] }))
    scene.bridge.follow(change({ put: [document('b', 'b')], realms: [realm(URL_TWO, 'b')] }))
    await settled()
    const afterOpening = scene.statusCalls()
    scene.bridge.follow(change({ put: [document('c')], realms: [realm()] }))
    await settled()
    const afterNothing = scene.statusCalls()
    linkAt(scene, 0).join()
    linkAt(scene, 1).join()
    await settled()

    expect([afterOpening, afterNothing, scene.statusCalls()]).toEqual([1, 1, 2])
  })
})

describe('close', () => {
  it('closes every link, those too that are being replaced', async () => {
    const scene = joinedScene({ drainMs: 60_000 })
    scene.session.pendingCalls = 1
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    linkAt(scene, 1).join()
    const before = scene.open()

    await scene.bridge.close()

    expect(before).toEqual([URL_ONE, URL_TWO])
    expect(scene.open()).toEqual([])
  })

  it('waits no longer than its setting for links that do not end', async () => {
    const scene = joinedScene({ closeMs: 20 })
    scene.link.closing = new Promise(() => undefined)

    await scene.bridge.close()

    expect(scene.link.isClosed).toBe(true)
  })

  const answering = async (closeMs: number) => {
    const scene = joinedScene({ closeMs })
    const finish = Promise.withResolvers<Payload>()
    const handler = () => finish.promise
    await scene.bridge
      .clientOf(REALM)
      .register({ procedure: 'com.acme.add', options: {}, callback: '', handler })
    return { scene, finish, response: scene.session.invoke('com.acme.add') }
  }

  it('lets callbacks finish their responses', async () => {
    const { scene, finish, response } = await answering(60_000)
    const closing = scene.bridge.close()
    await settled()
    const isOpen = !scene.link.isClosed
    finish.resolve({ args: [], kwargs: {} })
    await closing

    expect(isOpen).toBe(true)
    expect(scene.session.asked).toContain('unregister com.acme.add')
    expect(scene.link.isClosed).toBe(true)
    expect(await response).toEqual({ args: [], kwargs: {} })
  })

  it('but not for ever', async () => {
    const { scene, finish, response } = await answering(20)
    await scene.bridge.close()

    expect(scene.session.asked).toContain('unregister com.acme.add')
    expect(scene.link.isClosed).toBe(true)
    finish.resolve({ args: [], kwargs: {} })
    expect(await response).toEqual({ args: [], kwargs: {} })
  })

  it('is final', async () => {
    const scene = joinedScene()
    await scene.bridge.close()

    scene.bridge.follow(change({ put: [document('b', 'b')], realms: [realm(URL_TWO, 'b')] }))
    const error = await errorOf(() => scene.bridge.clientOf('com.acme').call(call, handler))

    expect(scene.open()).toEqual([])
    expect(error).toMatchObject({ uri: 'wamp.error.net_failure', wasSent: false })
    expect(error.message).toContain('shutting down')
  })
})
