import { join } from 'node:path'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { createTransportOpener } from '../../../../dataplane/wamp/transport/open-transport.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import { eventually } from '../../../support/eventually.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { settled } from '../../../support/settled.ts'
import { makeTempDir } from '../../../support/temp-dir.ts'
import { everyOf } from '../every-of.ts'
import { frameOf, startRawSocketRouter } from '../fake-routers.ts'
import { openProbe } from './transport-probe.ts'

describe('RawSocket', () => {
  it('speaks by unix socket', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'router.sock')
    await using router = await startRawSocketRouter({ path, isEcho: true })
    expect(router.url).toBe(`rs+unix:${path}`)
    for (const url of [router.url, `unix:${path}`]) {
      const probe = openProbe(url)
      await probe.untilOpen()
      probe.transport.send([48, 1])
      expect(await probe.untilMessages(1)).toEqual([[48, 1]])
      probe.transport.close()
      expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
    }
  })

  it('a unix socket that is not there is unreachable', async () => {
    await using dir = await makeTempDir()
    const probe = openProbe(`unix:${dir.path}/none.sock`)
    expect(await probe.untilEnd()).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('ENOENT'),
    })
  })

  it('offers one serializer per connection', async () => {
    await using router = await startRawSocketRouter({ serializers: ['cbor'] })
    const probe = openProbe(router.url)
    expect(await probe.untilOpen()).toBe('cbor')
    expect(router.offers).toEqual([['json'], ['msgpack'], ['cbor']])
    probe.transport.close()
    await probe.untilEnd()
    expect(probe.ends).toHaveLength(1)
  })

  it('sends no more than the router takes', async () => {
    await using router = await startRawSocketRouter({ lengthNibble: 0, isEcho: true })
    const probe = openProbe(router.url)
    await probe.untilOpen()
    const text = 'x'.repeat(512 - '[48,""]'.length)
    probe.transport.send([48, text])
    expect(() => {
      probe.transport.send([48, `${text}x`])
    }).toThrow(expect.objectContaining({ name: 'MessageError', code: 'unencodable' }))
    expect(await probe.untilMessages(1)).toEqual([[48, text]])
    probe.transport.close()
    await probe.untilEnd()
  })

  it('answers pings and sends none', async () => {
    await using router = await startRawSocketRouter()
    const clock = createManualClock()
    const probe = openProbe(router.url, { keepaliveMs: 1600, every: everyOf(clock) })
    await probe.untilOpen()
    await clock.run(5000)
    // Nothing would make the router say something: silence is no fault then.
    expect(probe.ends).toEqual([])
    router.socket.write(
      Buffer.concat([frameOf(1, Buffer.from('abc')), frameOf(1, Buffer.alloc(0))]),
    )
    router.socket.write(frameOf(2, Buffer.from('never asked for')))
    await eventually(() => {
      expect(router.pongs).toEqual(['abc', ''])
    })
    expect([router.pings, router.received]).toEqual([[], []])
    probe.transport.close()
    await probe.untilEnd()
  })

  it('a peer that pings and does not read fills no memory', async () => {
    await using router = await startRawSocketRouter()
    // It can't hear of the close either.
    const open = createTransportOpener({ dial: createRouterDial([]), closeGraceMs: 50 })
    const probe = openProbe(router.url, { open })
    await probe.untilOpen()
    const pings = frameOf(1, Buffer.alloc(500_000))
    // Reads nothing: `pause()` would be undone by its own reader.
    router.socket.pause()
    for (let count = 0; count < 60; count++) router.socket.write(pings)
    await eventually(() => {
      expect(router.socket.writableLength).toBe(0)
    })
    expect(probe.transport.bufferedBytes).toBeLessThan(2_000_000)
    probe.transport.close()
    await probe.untilEnd()
  })

  it.each([
    ['a frame of an unknown type', '0300000100'],
    ['a reserved bit', '0800000100'],
    ['another protocol', '485454502f312e31'],
  ])('%s is malformed', async (_, hex) => {
    await using router = await startRawSocketRouter()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.socket.write(Buffer.from(hex, 'hex'))
    expect(await probe.untilEnd()).toMatchObject({ kind: 'malformed' })
    await eventually(() => {
      expect(router.connections).toBe(0)
    })
  })

  it.each([
    ['7f200000', 'maximum message length'],
    ['7f400000', 'maximum connection count'],
    ['7ff30000', 'not asked for'],
  ])('the response %s is a refusal', async (hex, why) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(Buffer.from(hex, 'hex')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const probe = openProbe(`rs://127.0.0.1:${port}`)
    expect(await probe.untilEnd()).toEqual({
      kind: 'unreachable',
      reason: expect.stringContaining(why),
    })
    await new Promise((resolve) => server.close(resolve))
  })

  it('a response may come byte by byte, with messages right behind it', async () => {
    const bytes = Buffer.concat([
      Buffer.from('7ff10000', 'hex'),
      frameOf(0, Buffer.from('[2,1]')),
      frameOf(0, Buffer.from('[36,1]')),
    ])
    for (const step of [1, 3, 6, bytes.length]) {
      const server = createServer((socket) => {
        socket.setNoDelay(true).on('error', () => undefined)
        socket.once('data', () => {
          void (async () => {
            for (let at = 0; at < bytes.length; at += step) {
              socket.write(bytes.subarray(at, at + step))
              await settled()
            }
          })()
        })
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const probe = openProbe(`rs://127.0.0.1:${port}`)
      expect(await probe.untilMessages(2)).toEqual([
        [2, 1],
        [36, 1],
      ])
      probe.transport.close()
      await probe.untilEnd()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})
