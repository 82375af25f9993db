// Many large responses at a time through one gateway, to clients that read at once, slowly, or leave in the middle: each
// gets the bytes of its own response, whatever memory they were read into.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { openRequest } from '../support/http-request.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { api, forwards, load } from './gateway-client.ts'
const CLIENTS = 12

const ROUNDS = 2
/** More than sockets hold on their way. */
const MOST_BYTES = 16_000_000
const STRIPE_BYTES = 1000
/** Of the upstream, which is this process: it makes and compares bytes meanwhile. */
const PATIENCE_MS = 60_000

const random = seededRandom(7)

/** No two bodies have the same bytes at a place, nor one at two places. */
const bodyOf = (number: number, length: number): Buffer => {
  const body = Buffer.alloc(length)
  for (let at = 0; at < length; at += STRIPE_BYTES)
    body.fill(`${number} ${at} `, at, Math.min(length, at + STRIPE_BYTES))
  return body
}

/**
 * It closes no idle connection: while it makes bytes, the time of one may be up before it has read the request that has
 * come on it.
 */
const serveBytes = (): Server =>
  createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const [, number, length, way] = (request.url ?? '').split('/')
    const body = bodyOf(Number(number), Number(length))
    if (way === 'sized') {
      response.setHeader('content-length', body.length)
      response.end(body)
      return
    }
    // In chunks of any size.
    for (let at = 0; at < body.length;) {
      const to = at + 1 + Math.floor(random() * 200_000)
      response.write(body.subarray(at, to))
      at = to
    }
    response.end()
  })

let gateway: GatewayProcess
let upstream: Server

beforeAll(async () => {
  upstream = serveBytes()
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  gateway = await startGateway()
  const path = '"/{{request.bindings.number}}/{{request.bindings.length}}/{{request.bindings.way}}"'
  const patient = { timeout: PATIENCE_MS, connect_timeout: PATIENCE_MS }
  await load(gateway, api('many', { '/:number/:length/:way': forwards(origin, path, patient) }))
})

afterAll(async () => {
  await gateway.stop()
  upstream.closeAllConnections()
  await new Promise((resolve) => upstream.close(resolve))
})

/** Gives what is wrong. */
const download = async (number: number): Promise<string | undefined> => {
  const length = 1 + Math.floor(random() * MOST_BYTES)
  const way = random() < 0.5 ? 'sized' : 'chunked'
  const response = await openRequest(`${gateway.public}/many/${number}/${length}/${way}`, {
    timeoutMs: 2 * PATIENCE_MS,
  })
  if (response.statusCode !== 200)
    return `${number}: ${response.statusCode ?? 0} ${await text(response)}`
  const isSlow = random() < 0.7
  const leavesAt = random() < 0.2 ? random() * length : Infinity
  const expected = bodyOf(number, length)
  // Everything on the way fills.
  if (isSlow) await sleep(300)
  let received = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (!chunk.equals(expected.subarray(received, received + chunk.length)))
      return `${number}: other bytes than sent from ${received} on`
    received += chunk.length
    if (isSlow && random() < 0.02) await sleep(random() * 20)
    if (received > leavesAt) return undefined
  }
  return received === length ? undefined : `${number}: ${received} bytes of ${length}`
}

it('each client gets its own bytes, and all of them', async () => {
  const faults = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, index) => {
      const own: (string | undefined)[] = []
      for (let round = 0; round < ROUNDS; round++) own.push(await download(index * ROUNDS + round))
      return own
    }),
  )
  expect(faults.flat().filter((fault) => fault !== undefined)).toEqual([])
}, 240_000)
