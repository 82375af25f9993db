// Retries of a forward whose upstream has several instances, over real sockets.

import { afterEach, describe, expect, it } from '@jest/globals'
import { constant } from '../../../../language/expression/template.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import type { HealthEvent } from '../../../../dataplane/upstream/endpoints/origin-health.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import { SYSTEM_CLOCK } from '../../../../dataplane/upstream/retry.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { type Instances, startInstances } from '../../upstream/instances.ts'
import { call, operationOf, startGateway, type Gateway } from './forward-fixture.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const start = async (
  count: number,
): Promise<{ up: Instances; gateway: Gateway; events: HealthEvent[] }> => {
  const up = await startInstances(count)
  const events: HealthEvent[] = []
  const upstream = createUpstream({
    guard: createGuard(),
    resolve: up.resolve,
    clock: { now: () => 0, random: seededRandom(5) },
    onHealth: (event) => events.push(event),
  })
  const gateway = await startGateway(
    operationOf({
      action: { host: constant(up.origin) },
      limits: { retries: constant(1) },
    }),
    { upstream, realm: 'com.acme', clock: { ...SYSTEM_CLOCK, now: () => 0, random: () => 0 } },
  )
  closers.push(
    () => up.close(),
    () => gateway.close(),
  )
  return { up, gateway, events }
}

const load = async (gateway: Gateway, requests: number): Promise<number> => {
  let failed = 0
  let left = requests
  const client = async (): Promise<void> => {
    while (left-- > 0) if ((await call(gateway)).status !== 200) failed++
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return failed
}

describe('with one retry no GET fails', () => {
  it.each([2, 3])('where one of %d instances answers 503', async (count) => {
    const { up, gateway, events } = await start(count)
    const [sick] = up.all
    if (sick !== undefined) sick.behave = (_, response) => response.writeHead(503).end()
    expect(await load(gateway, 100)).toBe(0)
    expect(events).toMatchObject([{ realm: 'com.acme', fault: 'status' }])
  })

  it('where one after the other is stopped and comes back', async () => {
    const { up, gateway } = await start(3)
    expect(await load(gateway, 30)).toBe(0)
    for (const each of up.all) {
      const loading = load(gateway, 100)
      await each.stop()
      expect(await loading).toBe(0)
      await each.start()
      expect(await load(gateway, 30)).toBe(0)
    }
  })
})
