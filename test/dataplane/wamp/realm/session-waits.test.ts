import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { SessionWaits } from '../../../../dataplane/wamp/realm/session-waits.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import {
  change,
  createScene,
  document,
  hear,
  linkAt,
  REALM,
  realm,
  type Scene,
  URL_TWO,
} from '../scripted-links.ts'

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  jest.useRealTimers()
})

const BOTH = change({ put: [document()], realms: [realm()] })

/** Waits 8 s at most; what it is told goes to `told`. */
const wait = (scene: Scene, told: string[] = [], name = 'over') =>
  scene.bridge.clientOf(REALM).awaitSession(8000, () => told.push(name))

interface Case {
  readonly name: string
  readonly arrange: (scene: Scene) => void
  /** Somebody who comes then has something to wait for. */
  readonly waits: boolean
}

const joined = (scene: Scene): void => {
  scene.bridge.follow(BOTH)
  linkAt(scene, 0).join()
}

const lost = (scene: Scene): void => {
  joined(scene)
  linkAt(scene, 0).lose()
}

describe('what is worth waiting for', () => {
  it.each<Case>([
    { name: 'no realm', arrange: () => undefined, waits: false },
    {
      name: 'a realm without a router',
      arrange: (scene) => {
        scene.bridge.follow(change({ put: [document()], realms: [{ uri: REALM }] }))
      },
      waits: false,
    },
    {
      name: 'a realm that no document uses',
      arrange: (scene) => {
        scene.bridge.follow(change({ realms: [realm()] }))
      },
      waits: false,
    },
    {
      name: 'the first attempt',
      arrange: (scene) => {
        scene.bridge.follow(BOTH)
      },
      waits: true,
    },
    {
      name: 'the pause after it failed',
      arrange: (scene) => {
        scene.bridge.follow(BOTH)
        linkAt(scene, 0).backOff()
      },
      waits: false,
    },
    {
      name: 'the second attempt',
      arrange: (scene) => {
        scene.bridge.follow(BOTH)
        linkAt(scene, 0).backOff()
        linkAt(scene, 0).tryAgain()
      },
      waits: true,
    },
    { name: 'a session that is there', arrange: joined, waits: false },
    { name: 'the pause after it was lost', arrange: lost, waits: true },
    {
      name: 'the pause after the attempt behind that',
      arrange: (scene) => {
        lost(scene)
        linkAt(scene, 0).backOff()
      },
      waits: false,
    },
    {
      name: 'one link of two that still tries',
      arrange: (scene) => {
        scene.bridge.follow(
          change({
            put: [document()],
            realms: [{ uri: REALM, router: { ...realm().router, pool: 2 } }],
          }),
        )
        linkAt(scene, 0).backOff()
      },
      waits: true,
    },
    {
      name: 'another router, while the old one does not serve',
      arrange: (scene) => {
        scene.bridge.follow(BOTH)
        linkAt(scene, 0).backOff()
        scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
      },
      waits: true,
    },
    {
      name: 'a gateway that stops',
      arrange: (scene) => {
        scene.bridge.follow(BOTH)
        void scene.bridge.close()
      },
      waits: false,
    },
  ])('$name: $waits', ({ arrange, waits }) => {
    const scene = createScene()
    arrange(scene)

    expect(wait(scene) !== undefined).toBe(waits)
  })

  it('nothing, for who has no time', () => {
    const scene = createScene()
    scene.bridge.follow(BOTH)

    expect(scene.bridge.clientOf(REALM).awaitSession(0, () => undefined)).toBeUndefined()
  })
})

describe('waiting is over', () => {
  it.each<readonly [string, (scene: Scene) => void, (scene: Scene) => void, boolean]>([
    [
      'a session has joined',
      (scene) => {
        scene.bridge.follow(BOTH)
      },
      (scene) => void linkAt(scene, 0).join(),
      true,
    ],
    [
      'the first attempt ever has failed',
      (scene) => {
        scene.bridge.follow(BOTH)
      },
      (scene) => {
        linkAt(scene, 0).backOff()
      },
      true,
    ],
    [
      'the router that served does not answer yet',
      lost,
      (scene) => {
        linkAt(scene, 0).backOff()
      },
      false,
    ],
    [
      'it has failed ten times',
      lost,
      (scene) => {
        for (let times = 0; times < 10; times++) {
          linkAt(scene, 0).backOff()
          linkAt(scene, 0).tryAgain()
        }
      },
      false,
    ],
    [
      'the router that served says no',
      lost,
      (scene) => {
        linkAt(scene, 0).backOff('refused', 'wamp.error.not_authorized')
      },
      true,
    ],
    [
      'it is back',
      lost,
      (scene) => {
        linkAt(scene, 0).backOff()
        linkAt(scene, 0).join()
      },
      true,
    ],
    [
      'the last document has gone',
      lost,
      (scene) => {
        scene.bridge.follow(change({ remove: ['orders'] }))
      },
      true,
    ],
    [
      'the realm has gone',
      lost,
      (scene) => {
        scene.bridge.follow(change({ deleted: [REALM] }))
      },
      true,
    ],
    [
      'the realm has another router, which is tried',
      lost,
      (scene) => {
        scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
      },
      false,
    ],
    [
      'the other router can not be reached either',
      lost,
      (scene) => {
        scene.bridge.follow(change({ realms: [realm(URL_TWO)] }))
        linkAt(scene, 1).backOff()
      },
      true,
    ],
    [
      'the gateway stops',
      lost,
      (scene) => {
        void scene.bridge.close()
      },
      true,
    ],
    [
      '7999 ms have passed',
      lost,
      () => {
        jest.advanceTimersByTime(7999)
      },
      false,
    ],
    [
      '8000 ms have passed',
      lost,
      () => {
        jest.advanceTimersByTime(8000)
      },
      true,
    ],
  ])('%s', (_what, before, happens, isOver) => {
    const scene = createScene()
    const told: string[] = []
    before(scene)
    expect(wait(scene, told)).toBeDefined()

    happens(scene)

    expect(told).toEqual(isOver ? ['over'] : [])
  })

  it('once for each, in the order they came; not for who has left', () => {
    const scene = createScene()
    const told: string[] = []
    scene.bridge.follow(BOTH)
    wait(scene, told, 'a')
    const left = wait(scene, told, 'b')
    wait(scene, told, 'c')
    left?.cancel()
    left?.cancel()
    linkAt(scene, 0).join()
    linkAt(scene, 0).lose()
    linkAt(scene, 0).join()
    jest.advanceTimersByTime(60_000)

    expect(told).toEqual(['a', 'c'])
    expect(jest.getTimerCount()).toBe(0)
  })

  it('with a session that can be called, followed and registered on', async () => {
    const scene = createScene()
    const client = scene.bridge.clientOf(REALM)
    const call = { procedure: 'com.acme.add', args: [], kwargs: {}, options: {} }
    scene.bridge.follow(BOTH)
    client.awaitSession(8000, () => {
      client.call(call, { onResult: () => undefined, onFailure: () => undefined })
      client.follow('com.acme.topic', {}, hear())
      const handler = () => Promise.resolve({ args: [], kwargs: {} })
      void client.register({ procedure: 'com.acme.held', options: {}, callback: '', handler })
    })
    const session = linkAt(scene, 0).join()

    await jest.advanceTimersByTimeAsync(0)

    expect(session.calls).toHaveLength(1)
    expect(session.asked).toEqual(['subscribe com.acme.topic', 'register com.acme.held'])
  })
})

describe('a list of those who wait', () => {
  it('notifies the others when one fails, but none that another one removed', () => {
    const lines: unknown[] = []
    const log = { ...createSilentLog(), error: (_: string, fields?: object) => lines.push(fields) }
    const waits = new SessionWaits(REALM, log)
    const told: string[] = []
    waits.add(10, () => {
      told.push('first')
      taken.cancel()
      waits.add(10, () => told.push('late'))
      throw new Error('a bug')
    })
    const taken = waits.add(10, () => told.push('taken'))
    waits.add(10, () => told.push('last'))
    waits.notifyAll()

    expect(told).toEqual(['first', 'last'])
    expect(lines).toMatchObject([{ realm: REALM, error: { message: 'a bug' } }])
    expect(waits.size).toBe(1)
    jest.advanceTimersByTime(10)
    expect(told).toEqual(['first', 'last', 'late'])
    expect(waits.size).toBe(0)
  })
})
