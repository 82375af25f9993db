import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Following } from '../../../../dataplane/wamp/realm/wamp-client.ts'
import { WampError } from '../../../../dataplane/wamp/session/joined-session.ts'
import { settled } from '../../../support/settled.ts'
import {
  change,
  createScene,
  document,
  hear,
  type Heard,
  joinedScene,
  linkAt,
  REALM,
  realm,
  type Scene,
  URL_ONE,
  URL_TWO,
} from '../scripted-links.ts'

const TOPIC = 'com.acme.topic'

const follow = (
  scene: Scene,
  topic = TOPIC,
  options = {},
): Heard & { readonly following: Following } => {
  const heard = hear()
  return { ...heard, following: scene.bridge.clientOf(REALM).follow(topic, options, heard) }
}

const refused = new WampError('wamp.error.not_authorized', 'no')

// Promises and immediates go on by themselves, time only by hand.
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['clearImmediate', 'nextTick', 'queueMicrotask', 'setImmediate'],
  })
})

afterEach(() => {
  jest.useRealTimers()
})

describe('followers of one topic', () => {
  it('share one router subscription and its events', async () => {
    const scene = joinedScene()
    const first = follow(scene)
    const told = [...first.heard]
    await settled()
    const second = follow(scene)
    const toldAtOnce = [...second.heard]
    await settled()
    scene.session.emit(TOPIC, 'x')

    expect([told, toldAtOnce]).toEqual([[], []])
    expect(first.heard).toEqual(['followed 1001', 'event "x"'])
    expect(second.heard).toEqual(first.heard)
    expect(second.events[0]).toBe(first.events[0])
    expect(Object.isFrozen(first.events[0])).toBe(true)
    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`])
  })

  it('who joins before the router has answered waits for it too', async () => {
    const scene = joinedScene()
    const all = [follow(scene), follow(scene)]
    await settled()

    expect(all.map(({ heard }) => heard)).toEqual([['followed 1001'], ['followed 1001']])
  })

  it.each([
    [{}, { match: 'exact' }, 1],
    [{}, { match: 'prefix' }, 2],
    [{ match: 'prefix' }, { match: 'wildcard' }, 2],
    [{ match: 'prefix' }, { match: 'prefix', get_retained: true }, 1],
  ])('%j and %j: %d subscriptions', async (one, other, count) => {
    const scene = joinedScene()
    follow(scene, TOPIC, one)
    follow(scene, TOPIC, other)
    await settled()

    expect(scene.session.asked).toHaveLength(count)
    expect(scene.session.options[0]).toEqual(one)
  })

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('may follow %s', async (topic) => {
    const scene = joinedScene()
    const heard = follow(scene, topic)
    await settled()
    scene.session.emit(topic, 1)

    expect(heard.heard).toEqual(['followed 1001', 'event 1'])
  })

  it('are not harmed by one that throws', async () => {
    const scene = joinedScene()
    const bad = (): never => {
      throw new Error('a follower of no manners')
    }
    scene.bridge.clientOf(REALM).follow(
      TOPIC,
      {},
      {
        onFollowed: bad,
        onEvent: bad,
        onInterrupted: bad,
        onResumed: bad,
        onFailure: bad,
      },
    )
    const good = follow(scene)
    await settled()
    scene.session.emit(TOPIC, 1)
    scene.link.lose()
    const again = scene.link.join()
    await settled()
    again.emit(TOPIC, 2)
    scene.bridge.follow(change({ deleted: [REALM] }))

    expect(good.heard).toEqual([
      'followed 1001',
      'event 1',
      'interrupted',
      'resumed',
      'event 2',
      'failure wamp.error.no_such_realm',
    ])
    expect(scene.logged.filter((line) => line === 'a follower of a topic threw')).toHaveLength(6)
  })

  it('may end themselves and others while events are handed out', async () => {
    const scene = joinedScene()
    const client = scene.bridge.clientOf(REALM)
    const heard: string[] = []
    const followings: Following[] = []
    for (let index = 0; index < 4; index++)
      followings.push(
        client.follow(
          TOPIC,
          {},
          {
            ...hear(),
            onEvent: () => {
              heard.push(`${index}`)
              followings[index]?.end()
              if (index === 1) followings[2]?.end()
              if (index === 3) client.follow(TOPIC, {}, hear())
            },
          },
        ),
      )
    await settled()
    scene.session.emit(TOPIC, 1)
    scene.session.emit(TOPIC, 2)

    expect(heard).toEqual(['0', '1', '3'])
  })

  it('a thousand of them get one object', async () => {
    const scene = joinedScene()
    const all = Array.from({ length: 1000 }, () => follow(scene))
    await settled()
    scene.session.emit(TOPIC, 1)

    expect(new Set(all.map(({ events }) => events[0])).size).toBe(1)
    expect(all.every(({ heard }) => heard.length === 2)).toBe(true)
    expect(scene.session.asked).toHaveLength(1)
  })

  it('hear nothing after their end', async () => {
    const scene = joinedScene()
    const gone = follow(scene)
    gone.following.end()
    const stays = follow(scene)
    await settled()
    const left = follow(scene)
    left.following.end()
    left.following.end()
    scene.session.emit(TOPIC, 1)
    scene.link.lose()

    expect(gone.heard).toEqual([])
    expect(left.heard).toEqual([])
    expect(stays.heard).toEqual(['followed 1001', 'event 1', 'interrupted'])
  })
})

describe('events that come with the acknowledgement', () => {
  it('are passed on after it, in order', async () => {
    const scene = joinedScene()
    let acknowledge = (): void => undefined
    scene.answer = () =>
      new Promise((resolve) => {
        acknowledge = resolve
      })
    const heard = follow(scene)
    acknowledge()
    // The session has its handler one step after the response, the bridge hears of it some steps later.
    for (let step = 0; step < 2; step++) await Promise.resolve()
    scene.session.emit(TOPIC, 1)
    scene.session.emit(TOPIC, 2)
    const before = [...heard.heard]
    await settled()

    expect(before).toEqual([])
    expect(heard.heard).toEqual(['followed 1001', 'event 1', 'event 2'])
  })
})

describe('the last follower', () => {
  it('ends the router subscription after a while', async () => {
    const scene = joinedScene({ lingerMs: 5 })
    const heard = follow(scene)
    await settled()
    heard.following.end()
    await jest.advanceTimersByTimeAsync(4)
    const before = [...scene.session.asked]
    await jest.advanceTimersByTimeAsync(1)

    expect(before).toEqual([`subscribe ${TOPIC}`])
    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`, `unsubscribe ${TOPIC}`])
  })

  it('leaves it to the next one that comes soon', async () => {
    const scene = joinedScene({ lingerMs: 60 })
    const first = follow(scene)
    await settled()
    first.following.end()
    const second = follow(scene)
    await jest.advanceTimersByTimeAsync(120)
    scene.session.emit(TOPIC, 1)

    expect(second.heard).toEqual(['followed 1001', 'event 1'])
    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`])
  })

  it('ends it also when the router has answered only later', async () => {
    const scene = joinedScene({ lingerMs: 5 })
    let acknowledge = (): void => undefined
    scene.answer = (operation) =>
      operation === 'subscribe'
        ? new Promise((resolve) => {
            acknowledge = resolve
          })
        : undefined
    const heard = follow(scene)
    heard.following.end()
    await jest.advanceTimersByTimeAsync(20)
    const before = [...scene.session.asked]
    acknowledge()
    await jest.advanceTimersByTimeAsync(5)

    expect(before).toEqual([`subscribe ${TOPIC}`])
    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`, `unsubscribe ${TOPIC}`])
    expect(heard.heard).toEqual([])
  })

  it('that is followed again after the end subscribes again', async () => {
    const scene = joinedScene({ lingerMs: 1 })
    follow(scene).following.end()
    await jest.advanceTimersByTimeAsync(1)
    expect(scene.session.asked).toHaveLength(2)
    const heard = follow(scene)
    await settled()

    expect(heard.heard).toEqual(['followed 1002'])
    expect(scene.session.asked).toHaveLength(3)
  })
})

describe('a router that refuses', () => {
  it('fails the followers, and is requested again by the next', async () => {
    const scene = joinedScene()
    scene.answer = () => refused
    const all = [follow(scene), follow(scene)]
    await settled()
    scene.answer = () => undefined
    const next = follow(scene)
    await settled()

    for (const { heard } of all) expect(heard).toEqual(['failure wamp.error.not_authorized'])
    expect(next.heard).toEqual(['followed 1001'])
  })

  it('does not answer: the follower hears of it, what comes late is ended', async () => {
    const scene = joinedScene({ acknowledgeMs: 10 })
    let acknowledge = (): void => undefined
    scene.answer = (operation) =>
      operation === 'subscribe'
        ? new Promise((resolve) => {
            acknowledge = resolve
          })
        : undefined
    const heard = follow(scene)
    await jest.advanceTimersByTimeAsync(10)
    expect(heard.heard).toEqual(['failure svc.error.timeout'])
    acknowledge()
    await settled()

    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`, `unsubscribe ${TOPIC}`])
  })

  it('is requested a few at a time', async () => {
    const scene = joinedScene()
    const waiting: (() => void)[] = []
    scene.answer = () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      })
    const all = Array.from({ length: 50 }, (_, index) => follow(scene, `${TOPIC}.${index}`))
    await settled()
    const atFirst = waiting.length
    while (all.some(({ heard }) => heard.length === 0)) {
      for (const acknowledge of waiting.splice(0)) acknowledge()
      await settled()
    }

    expect(atFirst).toBe(16)
    expect(scene.session.asked).toHaveLength(50)
    expect(scene.session.asked).toEqual(all.map((_, index) => `subscribe ${TOPIC}.${index}`))
  })
})

describe('a router that answers too late', () => {
  it('learns in time that the earlier of two subscriptions has no use either', async () => {
    const scene = joinedScene({ acknowledgeMs: 20, lingerMs: 1 })
    const resolvers: (() => void)[] = []
    scene.answer = (operation) =>
      operation === 'subscribe' ? new Promise((resolve) => resolvers.push(resolve)) : undefined
    const first = follow(scene)
    await jest.advanceTimersByTimeAsync(20)
    expect(first.heard).toEqual(['failure svc.error.timeout'])
    const second = follow(scene)
    for (const resolve of resolvers) resolve()
    await settled()
    const meanwhile = [...scene.session.asked]

    expect(second.heard).toEqual([expect.stringContaining('followed')])
    expect(meanwhile).toEqual([`subscribe ${TOPIC}`, `subscribe ${TOPIC}`])
    await jest.advanceTimersByTimeAsync(40)
    expect(scene.session.asked).toEqual([...meanwhile, `unsubscribe ${TOPIC}`])
    expect(second.heard).toHaveLength(1)
  })
})

describe('a router that revokes a subscription', () => {
  it('interrupts; events go on when it is made again', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.session.revoke(TOPIC)
    await settled()
    const meanwhile = [...heard.heard]
    const late = follow(scene)
    await jest.advanceTimersByTimeAsync(100)
    scene.session.emit(TOPIC, 1)

    expect(meanwhile).toEqual(['followed 1001', 'interrupted'])
    expect(heard.heard.slice(2)).toEqual(['resumed', 'event 1'])
    expect(late.heard).toEqual(['followed 1002', 'event 1'])
    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`, `subscribe ${TOPIC}`])
  })

  it('and refuses it then: a failure, nothing after', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.answer = () => refused
    scene.session.revoke(TOPIC)
    await jest.advanceTimersByTimeAsync(1000)

    expect(heard.heard).toEqual([
      'followed 1001',
      'interrupted',
      'failure wamp.error.not_authorized',
    ])
  })

  it('is not called again for what no client follows', async () => {
    const scene = joinedScene({ lingerMs: 1 })
    const heard = follow(scene)
    await settled()
    scene.session.revoke(TOPIC)
    await settled()
    heard.following.end()
    await jest.advanceTimersByTimeAsync(1000)

    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`])
  })

  it('is not called again within the session that a lost one has been replaced by', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.session.revoke(TOPIC)
    scene.link.lose()
    const again = scene.link.join()
    await jest.advanceTimersByTimeAsync(1000)

    expect(again.asked).toEqual([`subscribe ${TOPIC}`])
    expect(heard.heard).toEqual(['followed 1001', 'interrupted', 'resumed'])
  })
})

describe('a router that goes away', () => {
  it('interrupts; events go on when it is back', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.link.lose()
    const away = [...heard.heard]
    const again = scene.link.join()
    await settled()
    again.emit(TOPIC, 1)
    const late = follow(scene)
    await settled()

    expect(away).toEqual(['followed 1001', 'interrupted'])
    expect(heard.heard).toEqual([...away, 'resumed', 'event 1'])
    expect(late.heard).toEqual(['followed 2001'])
    expect(again.asked).toEqual([`subscribe ${TOPIC}`])
  })

  it('fails who comes meanwhile, and who was waiting', async () => {
    const scene = joinedScene()
    scene.answer = () => new Promise(() => undefined)
    const waiting = follow(scene)
    scene.link.lose()
    const meanwhile = follow(scene)
    const ended = follow(scene)
    ended.following.end()
    const toldAtOnce = [...meanwhile.heard]
    await settled()

    expect(waiting.heard).toEqual(['failure wamp.error.net_failure'])
    expect(toldAtOnce).toEqual([])
    expect(meanwhile.heard).toEqual(['failure wamp.error.net_failure'])
    expect(ended.heard).toEqual([])
  })

  it('lets a client that comes while it is requested again wait for the response', async () => {
    const scene = joinedScene()
    follow(scene)
    await settled()
    scene.link.lose()
    scene.link.join()
    const late = follow(scene)
    await settled()

    expect(late.heard).toEqual(['followed 2001'])
  })

  it('refuses when it is back: a failure, nothing after', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.link.lose()
    scene.answer = () => refused
    const again = scene.link.join()
    await settled()
    again.emit(TOPIC, 1)
    scene.link.lose()

    expect(heard.heard).toEqual([
      'followed 1001',
      'interrupted',
      'failure wamp.error.not_authorized',
    ])
  })

  it('goes away again while it is called: one interruption, one return', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.link.lose()
    scene.answer = () => new Promise(() => undefined)
    scene.link.join()
    scene.link.lose()
    await settled()
    scene.answer = () => undefined
    scene.link.join()
    await settled()

    expect(heard.heard).toEqual(['followed 1001', 'interrupted', 'resumed'])
  })

  it('goes away under the question: who followed before stays, who waits gives up', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.link.lose()
    scene.answer = () => new Promise(() => undefined)
    const dying = scene.link.join()
    const late = follow(scene)
    dying.end()
    await settled()
    const told = [...late.heard]
    scene.link.lose()
    scene.answer = () => undefined
    scene.link.join()
    await settled()

    expect(told).toEqual(['failure wamp.error.net_failure'])
    expect(late.heard).toEqual(told)
    expect(heard.heard).toEqual(['followed 1001', 'interrupted', 'resumed'])
  })

  it('survives a follower that throws when it is notified', async () => {
    const scene = createScene()
    scene.bridge.clientOf(REALM).follow(
      TOPIC,
      {},
      {
        ...hear(),
        onFailure: () => {
          throw new Error('a follower of no manners')
        },
      },
    )
    await settled()

    expect(scene.logged).toEqual(['a follower of a topic threw'])
  })

  it('does not bring back what no client follows', async () => {
    const scene = joinedScene({ lingerMs: 10_000 })
    follow(scene).following.end()
    await settled()
    scene.link.lose()
    const again = scene.link.join()
    await settled()

    expect(again.asked).toEqual([])
  })

  it('is one of a pool: the topics move to another', async () => {
    const scene = createScene()
    scene.bridge.follow(
      change({ put: [document()], realms: [{ uri: REALM, router: { url: URL_ONE, pool: 2 } }] }),
    )
    const first = linkAt(scene, 0).join()
    const second = linkAt(scene, 1).join()
    const heard = follow(scene)
    await settled()
    linkAt(scene, 0).lose()
    await settled()
    second.emit(TOPIC, 1)

    expect([first.asked.length, second.asked.length]).toEqual([1, 1])
    expect(heard.heard).toEqual(['followed 1001', 'interrupted', 'resumed', 'event 1'])
  })
})

describe('a router record that changes', () => {
  it('moves the topics without a word', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    scene.session.emit(TOPIC, 'old')
    const next = linkAt(scene, 1).join()
    await settled()
    scene.session.emit(TOPIC, 'of the old one')
    next.emit(TOPIC, 'new')
    await jest.advanceTimersByTimeAsync(20)

    expect(scene.open()).toEqual([URL_TWO])
    expect(heard.heard).toEqual(['followed 1001', 'event "old"', 'event "new"'])
    expect(scene.session.asked).toEqual([`subscribe ${TOPIC}`, `unsubscribe ${TOPIC}`])
  })

  it('interrupts them while the new router is away', async () => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
    linkAt(scene, 1).turn('waiting', 'refused')
    linkAt(scene, 1).join()
    await settled()

    expect(heard.heard).toEqual(['followed 1001', 'interrupted', 'resumed'])
  })

  it.each([
    ['a deleted realm', change({ deleted: [REALM] }), 'no_such_realm'],
    ['the last document gone', change({ remove: ['orders'] }), 'net_failure'],
    ['no router any more', change({ realms: [{ uri: REALM }] }), 'net_failure'],
  ])('ends them: %s', async (_what, gone, error) => {
    const scene = joinedScene()
    const heard = follow(scene)
    await settled()
    scene.bridge.follow(gone)
    await settled()
    scene.session.emit(TOPIC, 1)

    expect(heard.heard).toEqual(['followed 1001', `failure wamp.error.${error}`])
  })
})

describe('bounds', () => {
  it('10,000 topics, 100,000 followers', async () => {
    const scene = joinedScene()
    const client = scene.bridge.clientOf(REALM)
    const silent = hear()
    for (let index = 0; index < 10_000; index++) client.follow(`${TOPIC}.${index}`, {}, silent)
    const tooMany = follow(scene, 'one.more')
    const known = follow(scene, `${TOPIC}.0`)
    for (let index = 10_001; index < 99_999; index++) client.follow(`${TOPIC}.0`, {}, silent)
    const last = follow(scene, `${TOPIC}.0`)
    const overfull = follow(scene, `${TOPIC}.0`)
    await settled()
    expect(last.heard).toHaveLength(1)
    last.following.end()
    const after = follow(scene, `${TOPIC}.0`)
    await settled()

    expect(tooMany.heard).toEqual(['failure svc.error.overloaded'])
    expect(overfull.heard).toEqual(['failure svc.error.overloaded'])
    for (const { heard } of [known, last, after]) expect(heard).toEqual(['followed 1001'])
  })
})
