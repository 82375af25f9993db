// Upstreams that are slow, die or talk nonsense, and clients that leave in the middle: the gateway
// answers what it must, holds nothing for ever, and goes on serving.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { BrokenError } from '../support/byte-stream.ts'
import { startEchoUpstream, type EchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { openRequest, request } from '../support/http-request.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'
import { startByteSource, type ByteSource } from './byte-source.ts'
import { answers, api, forwards, load } from './gateway-client.ts'

let gateway: GatewayProcess
let upstream: EchoUpstream
let source: ByteSource

beforeAll(async () => {
  ;[gateway, upstream, source] = await Promise.all([
    startGateway(),
    startEchoUpstream(),
    startByteSource(),
  ])
  const to = (path: string, more?: object) => forwards(upstream.origin, path, more)
  await load(
    gateway,
    api('faults', {
      '/ok': answers('fine'),
      '/echo': to('/echo'),
      '/hang': to('/hang', { timeout: 20_000 }),
      '/late': to('/hang', { timeout: 300 }),
      '/stall': to('/slow-body/2/20000', { timeout: 300 }),
      '/cut': to('/close/after-headers'),
      '/before': to('/close/before'),
      '/reset': to('/reset'),
      '/status-line': to('/malformed/status-line'),
      '/header': to('/malformed/header'),
      '/two-lengths': to('/malformed/two-lengths'),
      '/chunk': to('/malformed/chunk'),
      '/flood': forwards(source.origin, '/50000000'),
      '/silent': forwards(source.origin, '/0/silent'),
      '/stalled': forwards(source.origin, '/50000000/stall'),
      '/source/:count': forwards(source.origin, '"/{{request.bindings.count}}"'),
    }),
  )
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await source[Symbol.asyncDispose]()
})

const get = (path: string) => request(`${gateway.public}/faults${path}`)

const expectServing = async (): Promise<void> => {
  expect((await get('/ok')).text).toBe('"fine"')
  expect((await get('/echo')).status).toBe(200)
}

/** Sends a GET and gives the connection back without reading the response. */
const begin = async (path: string) => {
  const client = await openRawClient(addressOf(gateway.public), 15_000)
  client.send([Buffer.from(`GET /faults${path} HTTP/1.1\r\nHost: a\r\n\r\n`)])
  return client
}

describe('an upstream without a whole head', () => {
  it.each([
    ['/late', 'svc.error.timeout'],
    ['/before', 'svc.error.bad_gateway'],
    ['/reset', 'svc.error.bad_gateway'],
    ['/status-line', 'svc.error.bad_gateway'],
    ['/header', 'svc.error.bad_gateway'],
    ['/two-lengths', 'svc.error.bad_gateway'],
  ])('%s: 504 %s, as an error record', async (path, code) => {
    const response = await get(path)
    expect(response.status).toBe(504)
    expect(response.json()).toMatchObject({
      code,
      message: expect.any(String),
      description: expect.any(String),
    })
    await expectServing()
  })
})

describe('an upstream that dies in its body', () => {
  // Half a body that ends in order would be taken for the whole.
  it.each(['/cut', '/stall', '/chunk'])('%s: the client is cut off too', async (path) => {
    await using client = await begin(path)
    const response = await client.response().catch((error: unknown) => error)
    const isRefusal =
      typeof response === 'object' &&
      response !== null &&
      'status' in response &&
      response.status === 504
    expect(isRefusal || response instanceof BrokenError).toBe(true)
    await expectServing()
  })
})

it('many requests that hang at an upstream delay no other request', async () => {
  const clients = await Promise.all(Array.from({ length: 100 }, () => begin('/hang')))
  await eventually(() => {
    expect(upstream.seen((path) => path === '/hang').length).toBeGreaterThanOrEqual(100)
  })
  await expectServing()
  for (const client of clients) client.close()
  await eventually(() => {
    expect(upstream.connections()).toBeLessThan(10)
  })
})

it('a client that leaves before the response cancels the request upstream', async () => {
  const client = await begin('/silent')
  await eventually(() => {
    expect(source.running()).toBe(1)
  })
  client.close()
  await eventually(() => {
    expect(source.running()).toBe(0)
  })
  await expectServing()
})

describe('200 downloads that were cut off', () => {
  it.each([
    ['while bytes pour in', '/flood'],
    ['while nothing comes', '/stalled'],
  ])('%s: 100 each, and the origin still answers', async (_, path) => {
    for (let batch = 0; batch < 5; batch += 1) {
      const downloads = await Promise.all(
        Array.from({ length: 20 }, () => openRequest(`${gateway.public}/faults${path}`)),
      )
      await Promise.all(
        downloads.map(async (download) => {
          await new Promise((resolve) => download.once('readable', resolve))
          download.on('error', () => undefined).destroy()
        }),
      )
    }
    await eventually(() => {
      expect(source.running()).toBe(0)
    })
    const response = await get('/source/1000')
    expect(response.status).toBe(200)
    expect(response.text).toHaveLength(1000)
  })
})
