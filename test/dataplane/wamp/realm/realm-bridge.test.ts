import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { RealmRecord, RouterRecord } from '../../../../language/realm/record.ts'
import { planLinks } from '../../../../dataplane/wamp/realm/link-plan.ts'
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
  type Scene,
  URL_ONE,
  URL_TWO,
} from '../scripted-links.ts'

// Promises and immediates go on by themselves, time only by hand.
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['clearImmediate', 'nextTick', 'queueMicrotask', 'setImmediate'],
  })
})

afterEach(() => {
  jest.useRealTimers()
})

const call = { procedure: 'com.acme.add', args: [1], kwargs: {}, options: {} }
const handler = { onResult: () => undefined, onFailure: () => undefined }

const callOn = (scene: Scene): unknown => scene.bridge.clientOf(REALM).call(call, handler)

describe('what a router record asks for', () => {
  const ROUTERS: readonly (readonly [string, RouterRecord, object])[] = [
    [
      'nothing but an address',
      { url: 'ws://r/' },
      {
        pool: 1,
        link: {
          realmUri: REALM,
          urls: ['ws://r/'],
          target: {
            serializers: ['json'],
            keepaliveMs: 10_000,
            connectTimeoutMs: 5000,
            maxMessageBytes: 16_777_216,
          },
          auth: { method: 'anonymous' },
        },
      },
    ],
    ['keepalive off', { url: 'ws://r/', keepalive: 0 }, { link: { target: { keepaliveMs: 0 } } }],
    [
      'a keepalive in seconds',
      { url: 'ws://r/', keepalive: 10 },
      { link: { target: { keepaliveMs: 10_000 } } },
    ],
    ['RawSocket', { url: 'rs://r:1' }, { link: { target: { maxMessageBytes: 16_777_215 } } }],
    ['RawSocket, TLS', { url: 'rss://r:1' }, { link: { target: { maxMessageBytes: 16_777_215 } } }],
    [
      'a unix socket among others',
      { urls: ['ws://r/', 'rs+unix:/r'] },
      { link: { target: { maxMessageBytes: 16_777_215 } } },
    ],
    [
      'serializers',
      { url: 'ws://r/', serializers: ['cbor'] },
      { link: { target: { serializers: ['cbor'] } } },
    ],
    [
      'credentials',
      { url: 'ws://r/', auth: { method: 'ticket', authid: 'gw', secret: 's' }, pool: 4 },
      { pool: 4, link: { auth: { method: 'ticket', authid: 'gw', secret: 's' } } },
    ],
  ]

  it.each(ROUTERS)('%s', (_what, router, expected) => {
    expect(planLinks({ uri: REALM, router })).toMatchObject(expected)
  })

  it.each<readonly [string, RealmRecord]>([
    ['no router', { uri: REALM }],
    ['no address', { uri: REALM, router: {} }],
    ['no addresses', { uri: REALM, router: { urls: [] } }],
  ])('%s: nothing', (_what, record) => {
    expect(planLinks(record)).toBeUndefined()
  })
})

describe('what hinders a call', () => {
  const OBSTACLES: readonly (readonly [string, (scene: Scene) => void, string, RegExp])[] = [
    ['no realm', () => undefined, 'wamp.error.no_such_realm', /no realm named 'com.acme'; load/],
    [
      'a deleted realm whose documents stay',
      (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [realm()] }))
        linkAt(scene, 0).join()
        scene.bridge.follow(change({ deleted: [REALM] }))
      },
      'wamp.error.no_such_realm',
      /no realm named/,
    ],
    [
      'no router',
      (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [{ uri: REALM }] }))
      },
      'wamp.error.net_failure',
      /has no router; give/,
    ],
    [
      'no document any more',
      (scene) => {
        scene.bridge.follow(change({ realms: [realm()] }))
      },
      'wamp.error.net_failure',
      /No active API/,
    ],
    [
      'not joined yet',
      (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [realm()] }))
      },
      'wamp.error.net_failure',
      /can't be reached/,
    ],
    [
      'lost',
      (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [realm()] }))
        linkAt(scene, 0).join()
        linkAt(scene, 0).lose()
      },
      'wamp.error.net_failure',
      /can't be reached/,
    ],
    [
      'refused',
      (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [realm('ws://me:pass@one/')] }))
        linkAt(scene, 0).turn('refused', 'wamp.error.not_authorized: pass')
      },
      'wamp.error.net_failure',
      /does not let the gateway join/,
    ],
    [
      'unknown to the router',
      (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [realm()] }))
        linkAt(scene, 0).turn('refused', 'wamp.error.no_such_realm')
      },
      'wamp.error.no_such_realm',
      /router knows no realm/,
    ],
  ]

  it.each(OBSTACLES)('%s', async (_what, arrange, uri, message) => {
    const scene = createScene()
    arrange(scene)
    const client = scene.bridge.clientOf(REALM)

    const errors = await Promise.all([
      errorOf(() => client.call(call, handler)),
      errorOf(() => client.publish('a.b', { args: [], kwargs: {} }, {})),
      errorOf(() =>
        client.register({
          procedure: 'a',
          options: {},
          callback: '',
          handler: () => Promise.reject(new Error()),
        }),
      ),
      errorOf(() =>
        client.subscribe({
          topic: 'a',
          options: {},
          callback: '',
          onEvent: () => undefined,
          onEnd: () => undefined,
        }),
      ),
      errorOf(
        () =>
          new Promise((_resolve, reject) => {
            client.follow(
              'a',
              {},
              {
                onFollowed: () => undefined,
                onEvent: () => undefined,
                onInterrupted: () => undefined,
                onResumed: () => undefined,
                onFailure: reject,
              },
            )
          }),
      ),
    ])

    for (const error of errors) {
      expect(error).toMatchObject({ uri, wasSent: false })
      expect(error.message).toMatch(message)
      expect(error.message).not.toMatch(/pass|one:8080|ws:/)
    }
  })
})

describe('a pool', () => {
  const pooled = (): Scene => {
    const scene = createScene()
    scene.bridge.follow(
      change({ put: [document()], realms: [{ uri: REALM, router: { url: URL_ONE, pool: 3 } }] }),
    )
    return scene
  }

  it('takes calls and publications in turn, on those that are joined', async () => {
    const scene = pooled()
    const first = linkAt(scene, 0).join()
    const third = linkAt(scene, 2).join()

    for (let count = 0; count < 4; count++) callOn(scene)
    await scene.bridge.clientOf(REALM).publish('a.b', { args: [], kwargs: {} }, {})

    expect([first.calls.length, third.calls.length]).toEqual([2, 2])
    expect([...first.asked, ...third.asked]).toEqual(['publish a.b'])
  })

  it('goes on with the rest when one is lost', () => {
    const scene = pooled()
    const [first, second] = [linkAt(scene, 0).join(), linkAt(scene, 1).join()]
    linkAt(scene, 0).lose()

    callOn(scene)
    callOn(scene)

    expect([first.calls.length, second.calls.length]).toEqual([0, 2])
  })

  it('takes a link in again when it joins again', () => {
    const scene = pooled()
    linkAt(scene, 0).join()
    linkAt(scene, 0).lose()
    const again = linkAt(scene, 0).join()

    callOn(scene)

    expect(again.calls).toHaveLength(1)
  })
})

describe('a router record that changes', () => {
  it('leaves the old links in use until a new one has joined', async () => {
    const scene = joinedScene()
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    callOn(scene)
    const next = linkAt(scene, 1).join()
    callOn(scene)
    scene.session.pendingCalls = 0

    expect([scene.session.calls.length, next.calls.length]).toEqual([1, 1])
    expect(scene.bridge.status()[0]?.sessions).toEqual([{ url: URL_TWO, state: 'open' }])
    await jest.advanceTimersByTimeAsync(20)
    expect(scene.open()).toEqual([URL_TWO])
  })

  it.each(['waiting', 'refused'] as const)('goes over to links that are %s', async (state) => {
    const scene = joinedScene()
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    linkAt(scene, 1).turn(state, 'no')

    const error = await errorOf(() => callOn(scene))

    expect(error.uri).toBe('wamp.error.net_failure')
    await jest.advanceTimersByTimeAsync(20)
    expect(scene.open()).toEqual([URL_TWO])
  })

  it('goes over to links that take too long', async () => {
    const scene = joinedScene({ handoverMs: 20 })
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    await jest.advanceTimersByTimeAsync(39)
    const before = scene.open()
    await jest.advanceTimersByTimeAsync(1)

    expect(before).toEqual([URL_ONE, URL_TWO])
    expect(scene.open()).toEqual([URL_TWO])
    expect((await errorOf(() => callOn(scene))).wasSent).toBe(false)
  })

  it('goes over at once when the old one is lost meanwhile', () => {
    const scene = joinedScene()
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    scene.link.lose()

    expect(scene.open()).toEqual([URL_TWO])
  })

  it('closes the old links when their calls have ended', async () => {
    const scene = joinedScene()
    callOn(scene)
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    linkAt(scene, 1).join()
    await jest.advanceTimersByTimeAsync(1000)
    const during = scene.open()
    scene.session.pendingCalls = 0
    await jest.advanceTimersByTimeAsync(100)

    expect(during).toEqual([URL_ONE, URL_TWO])
    expect(scene.open()).toEqual([URL_TWO])
  })

  it('closes the old links when their time is up', async () => {
    const scene = joinedScene({ drainMs: 30 })
    callOn(scene)
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    linkAt(scene, 1).join()
    await jest.advanceTimersByTimeAsync(29)
    const before = scene.open()
    await jest.advanceTimersByTimeAsync(1)

    expect(before).toEqual([URL_ONE, URL_TWO])
    expect(scene.open()).toEqual([URL_TWO])
    expect(scene.session.pendingCalls).toBe(1)
  })

  it('changes twice before anything has joined', async () => {
    const scene = joinedScene()
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    scene.bridge.follow(change({ realms: [realm('ws://three/')] }))
    const between = scene.open()
    callOn(scene)
    const third = linkAt(scene, 2).join()
    callOn(scene)
    scene.session.pendingCalls = 0

    expect(between).toEqual([URL_ONE, 'ws://three/'])
    expect(third.calls).toHaveLength(1)
    await jest.advanceTimersByTimeAsync(20)
    expect(scene.open()).toEqual(['ws://three/'])
  })

  it('lets calls of a realm that goes away end', async () => {
    const scene = joinedScene()
    callOn(scene)
    scene.bridge.follow(change({ remove: ['orders'] }))
    await settled()
    const during = scene.open()
    scene.session.pendingCalls = 0

    expect(during).toEqual([URL_ONE])
    expect(scene.bridge.status()).toEqual([])
    await jest.advanceTimersByTimeAsync(100)
    expect(scene.open()).toEqual([])
  })
})
