// Memory that does not grow with what passes through. The bounds are generous: they catch buffering and
// leaks, not megabytes.

import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { startGateway } from '../support/gateway-process.ts'
import { openRequest, request } from '../support/http-request.ts'
import { startByteSource } from './byte-source.ts'
import { api, forwards, load } from './gateway-client.ts'
import { residentBytes } from './resident-bytes.ts'

const MIB = 1024 * 1024

it('1 GiB streams through to a reader that starts slowly', async () => {
  await using source = await startByteSource()
  await using gateway = await startGateway()
  await load(gateway, api('big', { '/x': forwards(source.origin, `/${1024 * MIB}`) }))
  const download = await openRequest(`${gateway.public}/big/x`, { timeoutMs: 60_000 })
  await sleep(1000)
  // Nobody reads: what has left the source is in socket buffers, and a little in the gateway.
  expect(source.given()).toBeLessThan(64 * MIB)
  let received = 0
  let peak = 0
  let measureAt = 0
  for await (const chunk of download) {
    received += (chunk as Buffer).length
    if (received < measureAt) continue
    measureAt += 64 * MIB
    peak = Math.max(peak, await residentBytes(gateway.pid))
  }
  expect(received).toBe(1024 * MIB)
  expect(peak).toBeLessThan(300 * MIB)
}, 60_000)

it('10 000 rejected loads leave nothing behind', async () => {
  await using gateway = await startGateway({ flags: ['--log-level', 'error'] })
  await load(
    gateway,
    api('only', { '/x': { action: { type: 'static', body: 'x' }, response: {} } }),
  )
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
  await rejectMany(0, 2000)
  const before = await residentBytes(gateway.pid)
  await rejectMany(2000, 10_000)
  agent.destroy()
  expect((await residentBytes(gateway.pid)) - before).toBeLessThan(64 * MIB)
  const list = (await request(`${gateway.management}/api_specs`)).json()
  expect(list).toMatchObject([{ id: 'only' }])
  expect(list).toHaveLength(1)
}, 60_000)
