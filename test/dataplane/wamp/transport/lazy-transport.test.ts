import { describe, expect, it } from '@jest/globals'
import { createLazyTransport } from '../../../../dataplane/wamp/transport/lazy-transport.ts'
import type {
  OpenTransport,
  TransportEnd,
  TransportHandlers,
  TransportTarget,
} from '../../../../dataplane/wamp/protocol/transport.ts'
import type { WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../../../support/eventually.ts'

const TARGET: TransportTarget = {
  url: 'ws://router.test/',
  serializers: ['json'],
  keepaliveMs: 0,
  connectTimeoutMs: 1000,
  maxMessageBytes: 1000,
}

interface Scene {
  readonly loads: () => number
  readonly opened: TransportHandlers[]
  readonly sent: WampMessage[]
  readonly closes: () => number
  readonly ends: TransportEnd[]
  readonly open: () => ReturnType<OpenTransport>
}

const prepare = (fails = 0): Scene => {
  const opened: TransportHandlers[] = []
  const sent: WampMessage[] = []
  const ends: TransportEnd[] = []
  let loads = 0
  let closes = 0
  const real: OpenTransport = (_, handlers) => {
    opened.push(handlers)
    return {
      send: (message) => sent.push(message),
      bufferedBytes: 7,
      hasRoom: false,
      close: () => closes++,
    }
  }
  const late = createLazyTransport(() =>
    ++loads > fails ? Promise.resolve(real) : Promise.reject(new Error('no such file')),
  )
  return {
    loads: () => loads,
    opened,
    sent,
    closes: () => closes,
    ends,
    open: () =>
      late(TARGET, {
        onOpen: () => undefined,
        onMessage: () => undefined,
        onUnreadable: () => undefined,
        onClose: (end) => ends.push(end),
      }),
  }
}

describe('a transport that is loaded late', () => {
  it('is the real one once it is there; the next is opened at once', async () => {
    const scene = prepare()
    const first = scene.open()
    expect([first.bufferedBytes, first.hasRoom, scene.opened.length]).toEqual([0, true, 0])
    await eventually(() => {
      expect(scene.opened).toHaveLength(1)
    })
    first.send([1])
    first.close()
    expect([scene.sent, scene.closes()]).toEqual([[[1]], 1])
    expect([first.bufferedBytes, first.hasRoom]).toEqual([7, false])
    scene.open()
    expect([scene.opened.length, scene.loads()]).toEqual([2, 1])
  })

  it('opens nothing for one that was closed meanwhile, and reports its end once', async () => {
    const scene = prepare()
    const transport = scene.open()
    transport.close()
    transport.close()
    expect(scene.ends).toEqual([])
    await eventually(() => {
      expect(scene.ends).toEqual([{ kind: 'closed', reason: 'closed before it was opened' }])
    })
    expect(scene.opened).toEqual([])
  })

  it('is unreachable when it cannot be loaded, and is tried again', async () => {
    const scene = prepare(1)
    scene.open()
    await eventually(() => {
      expect(scene.ends).toEqual([
        { kind: 'unreachable', reason: 'the transport is broken: no such file' },
      ])
    })
    scene.open()
    await eventually(() => {
      expect(scene.opened).toHaveLength(1)
    })
  })
})
