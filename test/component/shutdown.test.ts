// How a gateway ends: in order on the first signal, at once on the second.

import { describe, expect, it } from '@jest/globals'
import { startEchoUpstream, type EchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { answers, api, forwards, load } from './gateway-client.ts'
import { startReceiver } from './wamp/callback-receiver.ts'

const prepare = (gateway: GatewayProcess, upstream: EchoUpstream): Promise<void> =>
  load(
    gateway,
    api('end', {
      '/ok': answers('fine'),
      '/hang': forwards(upstream.origin, '/hang'),
    }),
  )

/** They share the machine. */
const PATIENCE = { withinMs: 15_000 }

const untilSeen = (upstream: EchoUpstream, path: string): Promise<void> =>
  eventually(() => {
    expect(upstream.seen((seen) => seen === path)).toHaveLength(1)
  }, PATIENCE)

const PROCESSES = [['1'], ['2']] as const

// Each has a gateway of its own.
describe('a gateway', () => {
  it.concurrent.each(PROCESSES)(
    'of %s process(es), SIGTERM: takes no more connections after the delay, answers what is in flight, ends with 0',
    async (processes) => {
      const flags = ['--drain-delay-seconds', '1', '--processes', processes]
      const held = Promise.withResolvers<undefined>()
      await using receiver = await startReceiver({
        '/held': (response) => {
          void held.promise.then(() => response.end('held'))
        },
      })
      await using gateway = await startGateway({ flags })
      await load(gateway, api('end', { '/held': forwards(receiver.origin, '/held') }))
      const inFlight = request(`${gateway.public}/end/held`, { timeoutMs: 30_000 })
      await eventually(() => {
        expect(receiver.at('/held')).toHaveLength(1)
      }, PATIENCE)
      gateway.signal('SIGTERM')
      await eventually(async () => {
        await expect(request(`${gateway.public}/end/nowhere`)).rejects.toThrow('ECONNREFUSED')
      }, PATIENCE)
      held.resolve(undefined)
      expect((await inFlight).text).toBe('held')
      expect(await gateway.exited).toEqual({ code: 0, signal: null })
    },
    60_000,
  )

  it.concurrent.each(PROCESSES)(
    'of %s process(es), SIGTERM: not ready, still serving; a second signal ends at once',
    async (processes) => {
      await using upstream = await startEchoUpstream()
      const gateway = await startGateway({
        flags: [
          '--drain-delay-seconds',
          '3600',
          '--drain-seconds',
          '3600',
          '--processes',
          processes,
        ],
      })
      await prepare(gateway, upstream)
      const inFlight = request(`${gateway.public}/end/hang`, { timeoutMs: 30_000 }).catch(
        (error: unknown) => error,
      )
      await untilSeen(upstream, '/hang')
      expect((await request(`${gateway.management}/ready`)).status).toBe(204)
      gateway.signal('SIGTERM')
      await eventually(async () => {
        expect((await request(`${gateway.management}/ready`)).status).toBe(503)
      }, PATIENCE)
      // The primary knows before its workers do.
      await eventually(async () => {
        const late = await request(`${gateway.public}/end/ok`)
        expect(late.text).toBe('"fine"')
        expect(late.headers.connection).toBe('close')
      }, PATIENCE)
      gateway.signal('SIGTERM')
      await gateway.exited
      expect(await inFlight).toHaveProperty('code', 'ECONNRESET')
    },
    60_000,
  )

  it.concurrent(
    'SIGINT skips the delay',
    async () => {
      const gateway = await startGateway({
        flags: ['--drain-delay-seconds', '3600'],
      })
      gateway.signal('SIGINT')
      expect(await gateway.exited).toEqual({ code: 0, signal: null })
    },
    60_000,
  )

  it.concurrent(
    'what does not finish in --drain-seconds is broken off',
    async () => {
      await using upstream = await startEchoUpstream()
      await using gateway = await startGateway({
        flags: ['--drain-seconds', '1'],
      })
      await prepare(gateway, upstream)
      const inFlight = request(`${gateway.public}/end/hang`, { timeoutMs: 30_000 })
      await untilSeen(upstream, '/hang')
      gateway.signal('SIGTERM')
      await expect(inFlight).rejects.toThrow(/socket hang up|ECONNRESET/)
      expect(await gateway.exited).toEqual({ code: 0, signal: null })
    },
    60_000,
  )
})
