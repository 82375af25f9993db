import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { loadAutobahn } from '../../../../dataplane/wamp/session/autobahn.ts'
import { createLinkOpener } from '../../../../dataplane/wamp/session/link.ts'
import type { LinkOptions, WampSession } from '../../../../dataplane/wamp/session/joined-session.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { scriptTransports } from '../scripted-transport.ts'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms)

const start = async (options: Partial<LinkOptions> = {}, atJoin?: (close: () => void) => void) => {
  const told: string[] = []
  const backOffs: string[] = []
  const lines: string[] = []
  const sessions: WampSession[] = []
  const transports = scriptTransports()
  const tell = (_message: string, fields?: object) => lines.push(JSON.stringify(fields))
  const log = { ...createSilentLog(), info: tell, warn: tell, error: tell }
  const openLink = createLinkOpener({
    openTransport: transports.openTransport,
    log: { ...log, child: () => log },
    random: () => 0,
  })
  const link = openLink(
    {
      realmUri: 'com.r',
      urls: ['ws://a/'],
      target: {
        serializers: ['json'],
        keepaliveMs: 0,
        connectTimeoutMs: 5000,
        maxMessageBytes: 1000,
      },
      auth: { method: 'anonymous' },
      ...options,
    },
    {
      onJoined: (session) => {
        expect(link.session).toBe(session)
        sessions.push(session)
        told.push('joined')
        atJoin?.(() => void link.close())
      },
      onLost: () => {
        expect(link.session).toBeUndefined()
        expect(link.state.state).toBe('waiting')
        told.push('lost')
      },
      onState: () => told.push([link.state.state, link.state.reason].join(' ').trim()),
      onBackOff: () => backOffs.push(link.state.state),
    },
  )
  expect(link.state.state).toBe('connecting')
  await loadAutobahn()
  await pass(0)
  return { link, told, backOffs, lines, sessions, transports }
}

const NET = 'wamp.error.net_failure'
const GONE = `${NET}: lost, gone`

describe('a link', () => {
  it('joins', async () => {
    const { link, told, transports, sessions } = await start()
    expect(told).toEqual([])
    transports.last.welcome()
    expect(told).toEqual(['joined', 'open'])
    expect(link.state).toEqual({ url: 'ws://a/', state: 'open' })
    expect(link.session).toBe(sessions[0])
  })

  it('settles what waits, says so, and joins again', async () => {
    const { told, transports, sessions } = await start()
    transports.last.welcome()
    sessions[0]?.call(
      { procedure: 'com.p', args: [], kwargs: {}, options: {} },
      { onResult: () => undefined, onFailure: ({ uri }) => told.push(uri) },
    )
    transports.last.end('lost')
    expect(told.slice(2)).toEqual([NET, 'lost', `waiting ${GONE}`])
    await pass(50)
    expect(transports.opened).toHaveLength(2)
    transports.last.welcome(78)
    expect(told.slice(5)).toEqual(['joined', 'open'])
    expect(sessions.map(({ id }) => id)).toEqual([77, 78])
  })

  it.each([
    ['GOODBYE', [6, { message: 'bye' }, 'wamp.close.close_realm'], 'wamp.close.close_realm: bye'],
    ['a message that is none', [999], 'wamp.error.protocol_violation'],
  ])('joins again after %s', async (_name, message, reason) => {
    const { link, transports } = await start()
    transports.last.welcome()
    transports.last.receive(...message)
    expect(link.state.state).toBe('waiting')
    expect(link.state.reason).toContain(reason)
    await pass(50)
    transports.last.welcome()
    expect(link.state.state).toBe('open')
  })

  it('tries for ever, and is back within a second of the router', async () => {
    const { link, told, transports } = await start()
    for (let tries = 0; tries < 100; tries++) {
      const { length } = transports.opened
      transports.last.end('unreachable')
      await pass(500)
      expect(transports.opened).toHaveLength(length + 1)
    }
    expect(told).toEqual([`waiting ${NET}: unreachable, gone`])
    transports.last.welcome()
    expect(link.state).toEqual({ url: 'ws://a/', state: 'open' })
  })

  it('backs off after an attempt that failed, and in no other pause', async () => {
    const { link, backOffs, transports } = await start({ urls: ['ws://a/', 'ws://b/'] })
    const seen: (readonly [string, boolean, number])[] = []
    const see = (what: string): void => {
      seen.push([what, link.isBackingOff, backOffs.length])
    }
    see('the first attempt')
    transports.last.end('unreachable')
    see('its second address')
    transports.last.end('unreachable')
    see('it failed')
    await pass(50)
    see('the second attempt')
    transports.last.welcome()
    see('joined')
    transports.last.end('lost')
    see('lost')
    await pass(100)
    see('a first attempt')
    transports.last.end('unreachable')
    transports.last.end('unreachable')
    see('it failed too')

    expect(seen).toEqual([
      ['the first attempt', false, 0],
      ['its second address', false, 0],
      ['it failed', true, 1],
      ['the second attempt', false, 1],
      ['joined', false, 1],
      ['lost', false, 1],
      ['a first attempt', false, 1],
      ['it failed too', true, 2],
    ])
  })

  it('reports each attempt that fails, though its state stays the same', async () => {
    const { told, backOffs, transports } = await start()
    for (let tries = 0; tries < 3; tries++) {
      transports.last.end('unreachable')
      await pass(1000)
    }
    expect(told).toHaveLength(1)
    expect(backOffs).toEqual(['waiting', 'waiting', 'waiting'])
  })

  it.each([
    [5000, 50],
    [4999, 100],
  ])('a session that lasted %i ms: the next try comes %i ms later', async (lastedMs, pauseMs) => {
    const { transports } = await start()
    transports.last.end('unreachable')
    await pass(50)
    transports.last.welcome()
    await pass(lastedMs)
    transports.last.end('lost')
    await pass(pauseMs - 1)
    expect(transports.opened).toHaveLength(2)
    await pass(1)
    expect(transports.opened).toHaveLength(3)
  })

  it('a refusal is reported with its URI and tried less and less often', async () => {
    const { link, told, transports } = await start()
    const refuse = () => {
      transports.last.open()
      transports.last.receive(3, { message: 'no such realm' }, 'wamp.error.no_such_realm')
    }
    for (let tries = 0; tries < 12; tries++) {
      refuse()
      await pass(15_000)
    }
    expect(told).toEqual(['refused wamp.error.no_such_realm: no such realm'])
    refuse()
    const { length } = transports.opened
    await pass(14_999)
    expect(transports.opened).toHaveLength(length)
    await pass(1)
    expect(link.state.state).toBe('refused')
    transports.last.welcome()
    expect(told.slice(1)).toEqual(['joined', 'open'])
  })

  it('a router that was away for long and then refuses is called again soon', async () => {
    const { transports } = await start()
    for (let tries = 0; tries < 20; tries++) {
      transports.last.end('unreachable')
      await pass(500)
    }
    const { length } = transports.opened
    transports.last.open()
    transports.last.receive(3, {}, 'wamp.error.no_such_realm')
    await pass(50)
    expect(transports.opened).toHaveLength(length + 1)
  })

  it('a secret that can’t serve is a refusal, and opens no connection', async () => {
    const auth = { method: 'cryptosign', secret: 'SECRET-TEXT' } as const
    const { link, lines, transports } = await start({ auth })
    await pass(60_000)
    expect(transports.opened).toEqual([])
    expect(link.state).toMatchObject({ state: 'refused' })
    expect(link.state.reason).toMatch(/^wamp\.error\.cannot_authenticate: .*no seed/)
    expect(JSON.stringify([lines, link.state])).not.toContain('SECRET-TEXT')
  })

  it('nothing tells the secret or the user info of an address', async () => {
    const { link, lines, told, transports } = await start({
      urls: ['ws://joe:s3cret@a/?s3cret'],
      auth: { method: 'ticket', authid: 'joe', secret: 's3cret' },
    })
    transports.last.open()
    transports.last.receive(3, { message: 'ticket s3cret is wrong' }, 'com.s3cret')
    expect(link.state.reason).toBe('com.***: ticket *** is wrong')
    expect(JSON.stringify([link.state, lines, told])).not.toContain('s3cret')
    expect(transports.last.target.url).toContain('s3cret')
  })

  it('logs a router that is away once a minute', async () => {
    const { lines, transports } = await start()
    for (let tries = 0; tries < 240; tries++) {
      transports.last.end('unreachable')
      await pass(500)
    }
    expect(lines).toHaveLength(2)
  })
})

describe('fail-over', () => {
  const urls = ['ws://a/', 'ws://b/', 'ws://c/']

  it('tries the next address at once, and pauses after a round', async () => {
    const { link, transports } = await start({ urls })
    const tried = () => transports.opened.map(({ target }) => target.url)
    transports.last.end('unreachable')
    transports.last.end('unreachable')
    expect(tried()).toEqual(urls)
    transports.last.end('unreachable')
    await pass(49)
    expect(tried()).toEqual(urls)
    await pass(1)
    expect(tried()).toEqual([...urls, 'ws://a/'])
    transports.last.end('unreachable')
    transports.last.welcome()
    expect(link.state).toEqual({ url: 'ws://b/', state: 'open' })
  })

  it('comes back to the address it was joined with, then goes on', async () => {
    const { transports } = await start({ urls })
    transports.last.end('unreachable')
    transports.last.welcome()
    transports.last.end('lost')
    await pass(1000)
    expect(transports.last.target.url).toBe('ws://b/')
    transports.last.end('unreachable')
    expect(transports.last.target.url).toBe('ws://c/')
  })

  it('reports the refusal among those that are away, and keeps trying often', async () => {
    const { link, transports } = await start({ urls })
    for (let round = 0; round < 20; round++) {
      transports.last.end('unreachable')
      transports.last.open()
      transports.last.receive(3, {}, 'wamp.error.no_such_realm')
      transports.last.end('unreachable')
      expect(link.state).toEqual({
        url: 'ws://b/',
        state: 'refused',
        reason: 'wamp.error.no_such_realm',
      })
      await pass(500)
    }
    expect(transports.opened).toHaveLength(61)
  })
})

describe('close', () => {
  it('says GOODBYE, tells once that the session is lost, and stays away', async () => {
    const { link, told, transports } = await start()
    transports.last.welcome()
    const closing = link.close()
    expect(link.close()).toBe(closing)
    expect(transports.last.sent.at(-1)).toEqual([6, {}, 'wamp.close.normal'])
    expect(told.slice(2)).toEqual(['lost', 'waiting closed'])
    await pass(1000)
    await closing
    expect(transports.last.isClosed).toBe(true)
    transports.last.end('closed')
    await pass(60_000)
    expect(transports.opened).toHaveLength(1)
    expect(told).toHaveLength(4)
  })

  it.each<[string, (transports: ReturnType<typeof scriptTransports>) => void]>([
    ['connecting', () => undefined],
    [
      'joining',
      ({ last }) => {
        last.open()
      },
    ],
    [
      'waiting',
      ({ last }) => {
        last.end('unreachable')
      },
    ],
    [
      'refused',
      ({ last }) => {
        last.open()
        last.receive(3, {}, 'com.no')
      },
    ],
  ])('while %s: at once, and for good', async (_name, prepare) => {
    const { link, told, transports } = await start()
    prepare(transports)
    await link.close()
    expect(transports.last.isClosed).toBe(true)
    await pass(60_000)
    transports.last.welcome()
    expect(transports.opened).toHaveLength(1)
    expect(told.at(-1)).toBe('waiting closed')
    expect(told).not.toContain('joined')
  })

  it('within onJoined', async () => {
    const { link, told, transports } = await start({}, (close) => {
      close()
    })
    transports.last.welcome()
    expect(told).toEqual(['joined', 'lost', 'waiting closed'])
    expect(link.state.state).toBe('waiting')
  })

  it('before the library is there', async () => {
    const transports = scriptTransports()
    const openLink = createLinkOpener({
      openTransport: transports.openTransport,
      log: createSilentLog(),
      random: () => 0,
    })
    const nothing = () => undefined
    const link = openLink(
      {
        realmUri: 'com.r',
        urls: ['ws://a/'],
        target: {
          serializers: ['json'],
          keepaliveMs: 0,
          connectTimeoutMs: 1,
          maxMessageBytes: 1,
        },
        auth: { method: 'anonymous' },
      },
      { onJoined: nothing, onLost: nothing, onState: nothing, onBackOff: nothing },
    )
    await link.close()
    await loadAutobahn()
    await pass(60_000)
    expect(transports.opened).toEqual([])
  })

  it('an observer that throws stops nothing', async () => {
    let attempts = 0
    const { link, transports, lines } = await start({}, () => {
      attempts++
      throw new Error('a bug above')
    })
    transports.last.welcome()
    transports.last.end('lost')
    await pass(50)
    transports.last.welcome()
    expect(attempts).toBe(2)
    expect(link.state.state).toBe('open')
    expect(lines.some((line) => line.includes('error'))).toBe(true)
  })
})
