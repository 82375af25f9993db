// Memory that does not grow with what passes through. The bounds are generous: they catch buffering and
// leaks, not megabytes.

import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { openInspector } from '../bench/inspector.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { openRequest, request } from '../support/http-request.ts'
import { type ByteSource, startByteSource } from './byte-source.ts'
import { api, forwards, load } from './gateway-client.ts'
import { residentBytes } from './resident-bytes.ts'

const MIB = 1024 * 1024
/** Far more than the gateway may hold. */
const STREAMED = 512 * MIB

let gateway: GatewayProcess
let source: ByteSource
let inspectorPort: number

beforeAll(async () => {
  source = await startByteSource()
  inspectorPort = await freePort()
  gateway = await startGateway({
    flags: ['--log-level', 'error'],
    env: { NODE_OPTIONS: `--inspect-port=127.0.0.1:${inspectorPort}` },
  })
  await load(gateway, api('big', { '/x': forwards(source.origin, `/${STREAMED}`) }))
})

afterAll(async () => {
  await gateway.stop()
  await source[Symbol.asyncDispose]()
})

it('512 MiB stream through to a reader that starts slowly', async () => {
  const download = await openRequest(`${gateway.public}/big/x`, { timeoutMs: 60_000 })
  await sleep(500)
  // No client reads: what has left the source is in socket buffers, and a little in the gateway.
  expect(source.given()).toBeLessThan(64 * MIB)
  let received = 0
  let peak = 0
  let measureAt = 0
  for await (const chunk of download) {
    received += (chunk as Buffer).length
    if (received < measureAt) continue
    measureAt += 32 * MIB
    peak = Math.max(peak, await residentBytes(gateway.pid))
  }
  expect(received).toBe(STREAMED)
  expect(peak).toBeLessThan(256 * MIB)
}, 60_000)

it('2000 rejected loads leave nothing behind', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const reject = (n: number): Promise<number | undefined> =>
    new Promise((resolve, fail) => {
      const outgoing = httpRequest(`${gateway.management}/api_specs`, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json' },
      })
      outgoing.on('response', (incoming) => {
        incoming.resume().on('end', () => {
          resolve(incoming.statusCode)
        })
      })
      outgoing.on('error', fail)
      const broken = { action: { type: 'static', body: `{{request.body.${n}` }, response: {} }
      outgoing.end(JSON.stringify(api(`rejected-${n}`, { [`/x${n}`]: broken })))
    })
  const rejectMany = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 100) {
      const statuses = await Promise.all(Array.from({ length: 100 }, (_, i) => reject(n + i)))
      expect(new Set(statuses)).toEqual(new Set([400]))
    }
  }
  using inspector = await openInspector(gateway.pid, inspectorPort)
  await rejectMany(0, 500)
  const before = await inspector.collect()
  await rejectMany(500, 2000)
  agent.destroy()
  const after = await inspector.collect()
  process.stderr.write(
    `measured: heap ${before.toFixed(1)} MiB after 500 rejected loads, ${after.toFixed(1)} MiB after 2000\n`,
  )
  expect(after - before).toBeLessThan(2)
  const listed = (await request(`${gateway.management}/api_specs`)).json()
  expect(listed).toEqual([expect.objectContaining({ id: 'big' })])
}, 60_000)
