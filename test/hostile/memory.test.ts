// A gateway with the heap that V8 takes in a container of 512 MiB survives clients that make it hold as much as it can:
// bodies of very many values, bodies that never end, values that wait for an upstream, responses that no client takes.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { REALM, post } from '../component/gateway-client.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'

const MB = 1_000_000
const HELD_MS = 120_000

/** In place of a status: the gateway has closed the connection. */
const CLOSED = 0

let gateway: GatewayProcess
let upstream: Server
let answerUpstream: RequestListener
let sockets: Socket[]

const operation = (action: object, response: object = {}): object => ({ action, response })

beforeAll(async () => {
  upstream = createServer((...args) => {
    answerUpstream(...args)
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const host = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  gateway = await startGateway({
    env: { NODE_OPTIONS: '--max-old-space-size=256' },
  })
  // What an upstream holds must not end by itself on a slow machine.
  await post(gateway, '/realms', { uri: REALM, call_timeout: HELD_MS })
  const echo = {
    type: 'static',
    body: { length: '{{request.body_length}}', is: '{{request.body.small}}' },
  }
  const forward = { type: 'forward', host, path: '/', body: '{{request.body.small}}' }
  const loaded = await post(gateway, '/api_specs', {
    id: 'memory',
    host: '_',
    realm_uri: REALM,
    defaults: { accepts: ['application/json', 'application/msgpack'] },
    versions: {
      v1: {
        base_path: '/',
        paths: {
          '/ok': { get: operation({ type: 'static', body: 'fine' }) },
          '/read': { post: operation(echo) },
          '/held': { post: operation(forward) },
          '/collected': {
            get: operation(
              { type: 'forward', host, path: '/' },
              { on_result: { body: '{{action.result.body.small}}' } },
            ),
          },
          '/copied': {
            get: operation(
              { type: 'forward', host, path: '/' },
              { on_result: { body: { copy: '{{action.result.body.large}}' } } },
            ),
          },
        },
      },
    },
  })
  if (loaded.status !== 204) throw new Error(loaded.text)
})

afterAll(async () => {
  upstream.closeAllConnections()
  upstream.close()
  await gateway.stop()
})

beforeEach(() => {
  sockets = []
})

/** Another client is served, with a body and without: while the attack lasts, and after it. */
const serves = async (): Promise<void> => {
  const fine = await request(`${gateway.public}/ok`)
  expect([fine.status, fine.text]).toEqual([200, '"fine"'])
  const read = await request(`${gateway.public}/read`, {
    method: 'POST',
    json: { small: 'text' },
  })
  expect([read.status, read.json()]).toEqual([200, { length: 16, is: 'text' }])
}

/** What the gateway has counted since it started: holdings that were refused, and connections that were closed. */
const counted = async (what: 'refusals' | 'closed'): Promise<number> => {
  const { text } = await request(`${gateway.management}/metrics`)
  const count = new RegExp(`^svc_gateway_memory_${what}_total (\\d+)$`, 'm').exec(text)?.[1]
  return Number(count ?? 0)
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await eventually(serves, { withinMs: 20_000 })
})

/** Sends a head and a part of a body; the response, if any, is collected. */
const open = async (head: string, body: Uint8Array = Buffer.alloc(0)): Promise<() => string> => {
  const { port, hostname } = new URL(gateway.public)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  sockets.push(socket)
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    if (text.length < 10_000) text += chunk.toString('latin1')
  })
  await once(socket, 'connect')
  socket.write(`${head} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`)
  if (body.length > 0) socket.write(`Content-Length: ${body.length + 1}\r\n`)
  socket.write('\r\n')
  socket.write(body)
  return () => (socket.destroyed && text === '' ? 'closed' : text)
}

const send = (path: string, type: string, body: Uint8Array, timeoutMs = 30_000) =>
  request(`${gateway.public}${path}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
    timeoutMs,
  })

const ofMany = (start: string, item: string, bytes: number): Buffer => {
  const count = Math.floor((bytes - start.length - 1) / (item.length + 1))
  return Buffer.from(`${start}${`${item},`.repeat(count)}1]`)
}

const manyMaps = (count: number): Buffer => {
  const bytes = Buffer.alloc(count + 5, 0x80)
  bytes[0] = 0xdd
  bytes.writeUInt32BE(count, 1)
  return bytes
}

describe('a body of very many values', () => {
  it.each([
    ['msgpack, 24.9 MB of empty maps', 'application/msgpack', manyMaps(24_900_000)],
    ['JSON, 24.9 MB of empty maps', 'application/json', ofMany('[', '{}', 24.9 * MB)],
    ['JSON, 24.9 MB of numbers', 'application/json', ofMany('[', '1', 24.9 * MB)],
  ])(
    'is refused: %s',
    async (_, type, body) => {
      const { status, text } = await send('/read', type, body)
      expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([
        413,
        'svc.error.payload_too_large',
      ])
      await serves()
    },
    60_000,
  )

  it('is refused where it is nested too deeply, before its values are counted', async () => {
    const { status, text } = await send('/read', 'application/json', Buffer.alloc(24.9 * MB, '['))
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([
      400,
      'svc.error.invalid_data',
    ])
    await serves()
  }, 60_000)

  it('is read where its bytes are few texts', async () => {
    const body = Buffer.from(JSON.stringify({ small: 'a', large: 'x'.repeat(20 * MB) }))
    const { status, text } = await send('/read', 'application/json', body)
    expect([status, JSON.parse(text)]).toEqual([200, { length: body.length, is: 'a' }])
  })
})

it('thirty bodies that withhold their last byte are not held together', async () => {
  const body = Buffer.alloc(24.9 * MB, ' ')
  const received: (() => string)[] = []
  for (let each = 0; each < 30; each++)
    received.push(await open('POST /read', body).catch(() => () => 'closed'))
  await eventually(
    () => {
      expect(received.filter((text) => text() !== '').length).toBeGreaterThan(15)
    },
    { withinMs: 30_000 },
  )
  await serves()
}, 90_000)

it('forty bodies that grow together end before memory does', async () => {
  const before = await counted('closed')
  for (let each = 0; each < 40; each++) {
    await open(`POST /read HTTP/1.1\r\nContent-Length: ${24.9 * MB}\r\nX:`)
    // What has begun to hold more than the least is not refused any more.
    sockets.at(-1)?.write(Buffer.alloc(100_000, ' '))
  }
  const held = /^svc_gateway_memory_in_use_bytes\{what="held"\} (\d+)$/m
  await eventually(async () => {
    const { text } = await request(`${gateway.management}/metrics`)
    expect(Number(held.exec(text)?.[1])).toBeGreaterThan(40 * 90_000)
  })
  const rest = Buffer.alloc(24 * MB, ' ')
  for (const socket of sockets) socket.write(rest)
  await eventually(
    async () => {
      expect(await counted('closed')).toBeGreaterThan(before)
    },
    { withinMs: 30_000 },
  )
  // It comes by another way than the count.
  await eventually(() => {
    expect(gateway.logs().some((line) => line.includes('out of memory: closed'))).toBe(true)
  })
  await serves()
}, 90_000)

it('bodies that come byte by byte cost little more than their bytes', async () => {
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(50_000))
  for (let each = 0; each < 40; each++) {
    await open('POST /read HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX:')
    sockets.at(-1)?.write(chunks)
  }
  await eventually(
    () => {
      expect(sockets.every(({ writableLength }) => writableLength === 0)).toBe(true)
    },
    { withinMs: 60_000 },
  )
  expect(sockets.every(({ bytesRead }) => bytesRead === 0)).toBe(true)
  // Two million chunks are seconds of work for Node's parser: as many small requests would cost as much.
  await eventually(serves, { withinMs: 60_000 })
}, 150_000)

it('values that wait for a slow upstream are not held together', async () => {
  let held = 0
  answerUpstream = () => {
    held++
  }
  const body = Buffer.from(
    JSON.stringify({ small: 'a', maps: Array.from({ length: 99_000 }, () => ({})) }),
  )
  const refused: number[] = []
  for (let each = 0; each < 40; each++)
    // Nor must its client give up: it would be counted twice.
    void send('/held', 'application/json', body, HELD_MS).then(
      ({ status }) => refused.push(status),
      () => refused.push(CLOSED),
    )
  await eventually(
    () => {
      expect(held + refused.length).toBe(40)
    },
    { withinMs: 30_000 },
  )
  expect(refused).toContain(503)
  expect(refused.filter((status) => status !== 503 && status !== CLOSED)).toEqual([])
  await serves()
  upstream.closeAllConnections()
}, 90_000)

it('responses of an upstream that are read are not held together', async () => {
  const started: (() => void)[] = []
  answerUpstream = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"small":"a","large":"')
    response.write(Buffer.alloc(10 * MB, 'x'))
    started.push(() => response.end('"}'))
  }
  const statuses: number[] = []
  for (let each = 0; each < 60; each++)
    void request(`${gateway.public}/collected`, { timeoutMs: HELD_MS }).then(
      ({ status }) => statuses.push(status),
      () => statuses.push(0),
    )
  await eventually(
    () => {
      expect(started).toHaveLength(60)
      expect(statuses.filter((status) => status === 503 || status === 0).length).toBeGreaterThan(10)
    },
    { withinMs: 30_000 },
  )
  await serves()
  for (const end of started) end()
  await eventually(
    () => {
      expect(statuses).toHaveLength(60)
    },
    { withinMs: 30_000 },
  )
  expect(statuses).toContain(200)
}, 120_000)

it('responses that no client takes are not held together', async () => {
  const relieved = async (): Promise<number> =>
    (await counted('refusals')) + (await counted('closed'))
  const before = await relieved()
  answerUpstream = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"large":"')
    response.end(`${'x'.repeat(10 * MB)}"}`)
  }
  for (let each = 0; each < 60; each++) {
    await open('GET /copied').catch(() => undefined)
    sockets.at(-1)?.pause()
    // One after the other: that all are read at once is another test.
    await serves()
  }
  // Which of the two it comes to depends on how much the kernel takes, and on when garbage is collected.
  // Responses are decoded in turns, after the clients that were served in between.
  await eventually(
    async () => {
      expect(await relieved()).toBeGreaterThan(before)
    },
    { withinMs: 60_000 },
  )
}, 120_000)
