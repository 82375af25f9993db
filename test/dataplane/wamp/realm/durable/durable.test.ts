import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type {
  DurableHandle,
  DurableListing,
  Registration,
} from '../../../../../dataplane/wamp/realm/wamp-client.ts'
import {
  peerError,
  WampError,
  type WampEvent,
} from '../../../../../dataplane/wamp/session/joined-session.ts'
import type { Payload } from '../../../../../dataplane/wamp/protocol/messages.ts'
import { settled } from '../../../../support/settled.ts'
import {
  change,
  errorOf,
  joinedScene,
  linkAt,
  REALM,
  realm,
  type Scene,
  URL_TWO,
} from '../../scripted-links.ts'

// Promises and immediates go on by themselves, time only by hand.
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['clearImmediate', 'nextTick', 'queueMicrotask', 'setImmediate'],
  })
})

afterEach(() => {
  jest.useRealTimers()
})

const CALLBACK = 'https://hooks.acme.com/add'
const RESPONSE: Payload = { args: [42], kwargs: {} }

const register = (scene: Scene, more: Partial<Registration> = {}): Promise<DurableHandle> =>
  scene.bridge.clientOf(REALM).register({
    procedure: 'com.acme.add',
    options: {},
    callback: CALLBACK,
    handler: () => Promise.resolve(RESPONSE),
    ...more,
  })

const subscribe = (
  scene: Scene,
  onEvent: (event: WampEvent) => void = () => undefined,
  { topic = 'com.acme.topic', onEnd = (): void => undefined } = {},
): Promise<DurableHandle> =>
  scene.bridge.clientOf(REALM).subscribe({ topic, options: {}, callback: CALLBACK, onEvent, onEnd })

const listings = (scene: Scene): readonly DurableListing[] =>
  scene.bridge.status().flatMap(({ durable: held }) => held)

const activity = (scene: Scene): readonly boolean[] =>
  listings(scene).map(({ isActive }) => isActive)

const exists = peerError('wamp.error.procedure_already_exists', 'taken')
const KINDS = [
  ['registration', register, 'register com.acme.add', 'unregister com.acme.add'],
  ['subscription', subscribe, 'subscribe com.acme.topic', 'unsubscribe com.acme.topic'],
] as const

describe.each(KINDS)('a held %s', (kind, hold, asked, ended) => {
  it('is with the router when its id is returned, and listed', async () => {
    const scene = joinedScene({}, { random: () => 0.5 })
    const { id } = await hold(scene)
    const status = scene.statusCalls()
    await settled()

    expect(id).toBe(2 ** 52)
    expect(scene.session.asked).toEqual([asked])
    expect(listings(scene)).toEqual([
      {
        kind,
        id,
        uri: asked.split(' ')[1],
        match: 'exact',
        callback: CALLBACK,
        isActive: true,
      },
    ])
    expect(scene.statusCalls()).toBeGreaterThan(status)
  })

  it.each([
    [0, 1],
    [1 - 2 ** -53, Number.MAX_SAFE_INTEGER],
  ])('randomness %d gives id %d', async (random, expected) => {
    const scene = joinedScene({}, { random: () => random })

    expect((await hold(scene)).id).toBe(expected)
  })

  it('has an id of its own, whatever the randomness', async () => {
    const scene = joinedScene({}, { random: () => 1 - 2 ** -53 })
    const ids = [await hold(scene), await hold(scene), await hold(scene)].map(({ id }) => id)

    expect(ids).toEqual([Number.MAX_SAFE_INTEGER, 1, 2])
  })

  it('is refused by the router: its fault, nothing held', async () => {
    const scene = joinedScene()
    scene.answer = () => exists

    const error = await errorOf(() => hold(scene))

    expect(error).toBe(exists)
    expect(listings(scene)).toEqual([])
  })

  it('is not held when the router goes away before it has answered', async () => {
    const scene = joinedScene()
    scene.answer = () => new Promise(() => undefined)
    const held = errorOf(() => hold(scene))
    scene.link.lose()
    scene.answer = () => undefined
    const error = await held
    const again = scene.link.join()
    await settled()

    expect(error.uri).toBe('wamp.error.net_failure')
    expect(listings(scene)).toEqual([])
    expect(again.asked).toEqual([])
  })

  it('keeps its id over a reconnect', async () => {
    const scene = joinedScene()
    const { id } = await hold(scene)
    scene.link.lose()
    const away = activity(scene)
    const again = scene.link.join()
    await settled()

    expect(away).toEqual([false])
    expect(again.asked).toEqual([asked])
    expect(listings(scene)).toMatchObject([{ id, isActive: true }])
  })

  it('is requested again when a later router refuses it', async () => {
    const scene = joinedScene()
    await hold(scene)
    scene.link.lose()
    scene.answer = () => exists
    const again = scene.link.join()
    await jest.advanceTimersByTimeAsync(100)
    expect(again.asked).toHaveLength(2)
    const refused = activity(scene)
    scene.answer = () => undefined
    await jest.advanceTimersByTimeAsync(200)

    expect(activity(scene)).toEqual([true])
    expect(refused).toEqual([false])
    expect(scene.logged.filter((line) => line.includes('was rejected'))).toHaveLength(1)
  })

  it('does not wait for its pause when the router comes back', async () => {
    const scene = joinedScene({}, { random: () => 0.5 })
    await hold(scene)
    scene.link.lose()
    scene.answer = () => exists
    scene.link.join()
    await settled()
    scene.link.lose()
    scene.answer = () => undefined
    const again = scene.link.join()
    await settled()

    expect(again.asked).toEqual([asked])
    expect(activity(scene)).toEqual([true])
  })

  it('is made again when the router revokes it, and is active only when it is', async () => {
    const scene = joinedScene()
    const { id } = await hold(scene)
    scene.answer = () => exists
    scene.session.revoke(asked.split(' ')[1] ?? '')
    await jest.advanceTimersByTimeAsync(100)
    expect(scene.session.asked).toHaveLength(2)
    const revoked = activity(scene)
    scene.answer = () => undefined
    await jest.advanceTimersByTimeAsync(200)

    expect(listings(scene)).toMatchObject([{ id, isActive: true }])
    expect(revoked).toEqual([false])
    expect(scene.logged.filter((line) => line.includes('was revoked'))).toHaveLength(1)
  })

  it('is not requested at once, nor ever faster, by a router that revokes it each time', async () => {
    const scene = joinedScene({}, { random: () => 0.5 })
    await hold(scene)
    const pauses: number[] = []
    let revokedMs = performance.now()
    scene.answer = (_operation, uri) => {
      pauses.push(performance.now() - revokedMs)
      setImmediate(() => {
        revokedMs = performance.now()
        scene.session.revoke(uri)
      })
      return undefined
    }
    scene.session.revoke(asked.split(' ')[1] ?? '')
    await jest.advanceTimersByTimeAsync(1200)

    expect(pauses).toEqual([75, 150, 300, 600])
  })

  it('is not made again once it is released', async () => {
    const scene = joinedScene({ lingerMs: 1 })
    const { id } = await hold(scene)
    scene.session.revoke(asked.split(' ')[1] ?? '')
    await settled()
    await scene.bridge.releaseHere(REALM, kind, id)
    await jest.advanceTimersByTimeAsync(1000)

    expect(scene.session.asked.filter((operation) => operation === asked)).toHaveLength(1)
  })

  it('is released', async () => {
    const scene = joinedScene({ lingerMs: 1 })
    const { id } = await hold(scene)
    const other = await scene.bridge.releaseHere(
      REALM,
      kind === 'registration' ? 'subscription' : 'registration',
      id,
    )
    const released = await scene.bridge.clientOf(REALM).release(kind, id)
    const again = await scene.bridge.releaseHere(REALM, kind, id)

    expect([other, released, again]).toEqual([false, true, false])
    expect(listings(scene)).toEqual([])
    expect(scene.elsewhere).toEqual([])
    await jest.advanceTimersByTimeAsync(1)
    expect(scene.session.asked).toEqual([asked, ended])
  })

  it('is released also when the router will not end it', async () => {
    const scene = joinedScene({ lingerMs: 1 })
    const { id } = await hold(scene)
    scene.answer = () => new WampError('wamp.error.no_such_registration', 'never heard of it')

    expect(await scene.bridge.releaseHere(REALM, kind, id)).toBe(true)
    await jest.advanceTimersByTimeAsync(1)
    expect(scene.session.asked).toEqual([asked, ended])
    expect(listings(scene)).toEqual([])
  })

  it('is released while the router is away', async () => {
    const scene = joinedScene()
    const { id } = await hold(scene)
    scene.link.lose()
    const released = await scene.bridge.clientOf(REALM).release(kind, id)
    const again = scene.link.join()
    await settled()

    expect(released).toBe(true)
    expect(again.asked).toEqual([])
  })

  it.each([
    [4711, true],
    [4712, false],
  ])('of another process: %d', async (id, expected) => {
    const scene = joinedScene()

    expect(await scene.bridge.clientOf(REALM).release(kind, id)).toBe(expected)
    expect(scene.elsewhere).toEqual([`${REALM} ${kind} ${id}`])
  })

  it.each([
    ['its realm is deleted', change({ deleted: [REALM] })],
    ['the last document goes', change({ remove: ['orders'] })],
  ])('ends when %s', async (_what, gone) => {
    const scene = joinedScene()
    const { id } = await hold(scene)
    scene.bridge.follow(gone)
    await settled()

    expect(scene.logged.at(-1)).toContain('for callbacks end')
    expect(scene.session.asked).toEqual([asked, ended])
    expect(await scene.bridge.releaseHere(REALM, kind, id)).toBe(false)
  })

  it('is not held when its realm goes before the router has answered', async () => {
    const scene = joinedScene()
    let acknowledge = (): void => undefined
    scene.answer = (operation) =>
      operation === 'register' || operation === 'subscribe'
        ? new Promise((resolve) => {
            acknowledge = resolve
          })
        : undefined
    const held = errorOf(() => hold(scene))
    scene.bridge.follow(change({ deleted: [REALM] }))
    acknowledge()

    expect((await held).uri).toBe('wamp.error.no_such_realm')
    await settled()
    expect(scene.session.asked).toEqual([asked, ended])
  })

  it('moves to the links of a changed record', async () => {
    const scene = joinedScene()
    const { id } = await hold(scene)
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    const next = linkAt(scene, 1).join()
    await settled()

    expect(scene.session.asked).toEqual([asked, ended])
    expect(next.asked).toEqual([asked])
    expect(listings(scene)).toMatchObject([{ id, isActive: true }])
    expect(await scene.bridge.clientOf(REALM).release(kind, id)).toBe(true)
  })

  it('is one of at most 1,000', async () => {
    const scene = joinedScene()
    const all = await Promise.all(Array.from({ length: 1000 }, () => hold(scene)))
    const error = await errorOf(() => hold(scene))
    await scene.bridge.releaseHere(REALM, kind, all[0]?.id ?? 0)
    const next = await hold(scene)

    expect(error).toMatchObject({ uri: 'svc.error.overloaded', wasSent: false })
    expect(next.id).toBeGreaterThan(0)
  })
})

describe('registrations', () => {
  it('answer invocations, also those of later sessions', async () => {
    const scene = joinedScene()
    await register(scene)
    const first = await scene.session.invoke('com.acme.add')
    scene.link.lose()
    const again = scene.link.join()
    await settled()

    expect([first, await again.invoke('com.acme.add')]).toEqual([RESPONSE, RESPONSE])
  })

  it('hand on what a handler rejects with', async () => {
    const scene = joinedScene()
    await register(scene, { handler: () => Promise.reject(exists) })

    expect(await errorOf(() => scene.session.invoke('com.acme.add'))).toBe(exists)
  })

  it('end at the old session before they begin at the new one', async () => {
    const scene = joinedScene()
    await register(scene)
    let release = (): void => undefined
    scene.answer = (operation) =>
      operation === 'unregister'
        ? new Promise((resolve) => {
            release = resolve
          })
        : undefined
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    const next = linkAt(scene, 1).join()
    await settled()
    const before = [...next.asked]
    release()
    await settled()

    expect(before).toEqual([])
    expect(next.asked).toEqual(['register com.acme.add'])
  })

  it('do not queue behind topics', async () => {
    const scene = joinedScene()
    await register(scene)
    for (let index = 0; index < 50; index++)
      await subscribe(scene, undefined, { topic: `a.t${index}` })
    scene.answer = (operation) =>
      operation === 'subscribe' ? new Promise(() => undefined) : undefined
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    const next = linkAt(scene, 1).join()
    await settled()

    expect(next.asked).toContain('register com.acme.add')
    expect(next.asked).toHaveLength(17)
  })

  it('keep a replaced session open until they have answered', async () => {
    const scene = joinedScene()
    let finish: (response: Payload) => void = () => undefined
    await register(scene, {
      handler: () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    })
    const received = scene.session.invoke('com.acme.add')
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    linkAt(scene, 1).join()
    await jest.advanceTimersByTimeAsync(1000)
    const isOpen = !scene.link.isClosed
    finish(RESPONSE)

    expect([isOpen, await received]).toEqual([true, RESPONSE])
    await jest.advanceTimersByTimeAsync(100)
    expect(scene.link.isClosed).toBe(true)
  })

  it('show how they match', async () => {
    const scene = joinedScene()
    await register(scene, { options: { match: 'prefix' } })

    expect(listings(scene)[0]?.match).toBe('prefix')
  })

  it('survive a router that moves while it is called for the first time', async () => {
    const scene = joinedScene()
    let acknowledge = (): void => undefined
    scene.answer = (operation) =>
      operation === 'register'
        ? new Promise((resolve) => {
            acknowledge = resolve
          })
        : undefined
    const held = register(scene)
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    scene.answer = (operation) =>
      operation === 'register' || operation === 'unregister' ? undefined : exists
    const next = linkAt(scene, 1).join()
    acknowledge()
    const { id } = await held
    await settled()

    expect(next.asked).toEqual(['register com.acme.add'])
    expect(scene.session.asked).toEqual(['register com.acme.add', 'unregister com.acme.add'])
    expect(listings(scene)).toMatchObject([{ id, isActive: true }])
  })
})

describe('subscriptions', () => {
  it('share the router subscription of a topic with its followers', async () => {
    const scene = joinedScene()
    const seen: WampEvent[] = []
    await subscribe(scene, (event) => seen.push(event))
    await subscribe(scene, (event) => seen.push(event))
    scene.session.emit('com.acme.topic', 1)

    expect(scene.session.asked).toHaveLength(1)
    expect(seen).toHaveLength(2)
    expect(seen[0]).toBe(seen[1])
  })

  it('hear nothing after their release', async () => {
    const scene = joinedScene()
    const seen: WampEvent[] = []
    let ends = 0
    const onEnd = (): void => {
      ends++
    }
    const { id } = await subscribe(scene, (event) => seen.push(event), { onEnd })
    const before = ends
    await scene.bridge.releaseHere(REALM, 'subscription', id)
    scene.session.emit('com.acme.topic', 1)

    expect([seen, before, ends]).toEqual([[], 0, 1])
  })
})
