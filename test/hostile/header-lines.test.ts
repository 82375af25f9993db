// Heads of very many small lines: bounded in number, refused in words, and cheap, also many of them at once.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { answers, api, load } from '../component/gateway-client.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

let gateway: GatewayProcess

beforeAll(async () => {
  gateway = await startGateway({
    // As much as V8 takes in a container of 512 MiB.
    env: { NODE_OPTIONS: '--max-old-space-size=256' },
    // All of them come from one address, which has no share so far below the bound.
    flags: ['--health', '127.0.0.1:0', '--max-connections', '10000'],
  })
  await load(gateway, api('heads', { '/ok': answers('fine') }))
})

afterAll(() => gateway.stop(), 15_000)

const linesOf = (count: number): string =>
  Array.from({ length: count }, (_, i) => `x${i}: a\r\n`).join('')

/** With so many lines in all. */
const headOf = (start: string, count: number, more = ''): string => {
  const own = more.split('\r\n').length - 1
  return `${start} HTTP/1.1\r\nHost: a\r\n${more}${linesOf(count - own - 1)}\r\n`
}

const send = async (url: string, head: string): Promise<readonly [number, unknown]> => {
  await using client = await openRawClient(addressOf(url), 15_000)
  client.send([Buffer.from(head)])
  const { status, body } = await client.response()
  const text = body.toString()
  return [status, text.startsWith('{') ? (JSON.parse(text) as { code: unknown }).code : text]
}

const REFUSED = 'svc.error.invalid_data'
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'

describe('header lines of a request', () => {
  it('may be 128', async () => {
    expect(await send(gateway.public, headOf('GET /heads/ok', 128))).toEqual([200, '"fine"'])
  })

  it.each([
    ['a request', 'public', 'GET /heads/ok', '', REFUSED],
    ['a request that nothing matches', 'public', 'GET /nowhere', '', REFUSED],
    [
      'a request that expects to go on',
      'public',
      'POST /heads/ok',
      'Expect: 100-continue\r\n',
      REFUSED,
    ],
    ['a tunnel', 'public', 'CONNECT a:1', '', REFUSED],
    ['an upgrade', 'public', 'GET /heads/ws', UPGRADE, REFUSED],
    ['the management API', 'management', 'GET /ping', '', ''],
    ['the health listener', 'health', 'GET /ping', '', ''],
  ])('129 are refused, none is dropped in silence: %s', async (...row) => {
    const [, listener, start, more, code] = row
    const url = String(gateway.listening[listener])
    expect(await send(url, headOf(start, 129, more))).toEqual([431, code])
  })

  it('2500 heads of 16 kB that never end cost little, and others are served', async () => {
    const { port, hostname } = new URL(gateway.public)
    const started = `GET / HTTP/1.1\r\nHost: a\r\n`
    const tiny = 'xa: abc\r\n'.repeat(1770)
    const sockets: Socket[] = []
    try {
      for (let each = 0; each < 2500; each += 1) {
        const socket = connect(Number(port), hostname).on('error', () => undefined)
        sockets.push(socket)
        await once(socket, 'connect')
        socket.write(started + tiny)
      }
      await eventually(() => {
        expect(sockets.every(({ writableLength }) => writableLength === 0)).toBe(true)
      })
      const { status, text } = await request(`${gateway.public}/heads/ok`)
      expect([status, text]).toEqual([200, '"fine"'])
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  }, 60_000)
})
