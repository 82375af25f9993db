// Tests the pages that ask gateways: the shared pool comes first, and only so many requests wait at one time.

import { describe, expect, it } from '@jest/globals'
import { fleetPages, type FleetSources } from '../../../operator/status/fleet-pages.ts'

type FoundFleet = NonNullable<ReturnType<FleetSources['fleet']>>
type Reachable = ReturnType<FoundFleet['reachable']>[number]
type Client = Reachable['client']

const reachable = (name: string, isShared: boolean, client: Partial<Client>): Reachable => ({
  name,
  isShared,
  isReady: true,
  client: client as Client,
})

const pagesOf = (gateways: readonly Reachable[]) =>
  fleetPages({ fleet: () => ({ reachable: () => gateways }) })

describe('the pages that ask gateways', () => {
  it('ask the shared pool before 64 sidecars whose names come first', async () => {
    const asked: string[] = []
    const at = (name: string, isShared: boolean) =>
      reachable(name, isShared, {
        failures: () => {
          asked.push(name)
          return Promise.resolve({ result: 'ok', value: [], etag: undefined })
        },
      })
    const sidecars = Array.from({ length: 64 }, (_, i) => at(`aaa/${i}`, false))
    const page = await pagesOf([...sidecars, at('pool/b', true), at('pool/a', true)])['/why']?.('')
    expect(page).toMatchObject({ json: { asked: 64, skipped: 2 } })
    expect(asked.slice(0, 2)).toEqual(['pool/a', 'pool/b'])
  })

  it('are at work for four requests at one time, of all pages together', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const answer = async () => {
      await promise
      return { result: 'ok', value: [], etag: undefined } as const
    }
    const pages = pagesOf([reachable('pool', true, { failures: answer, why: answer })])
    const ask = async (path: string, ...values: readonly string[]) => pages[path]?.(...values)
    const why = () => ask('/why/:id', 'some-id', '')
    const waiting = [why(), why(), why(), ask('/why', '')]
    const busy = { error: expect.stringContaining('too many requests') }
    for (const page of [why(), ask('/why', ''), ask('/routes', '')])
      expect(await page).toEqual(busy)
    resolve(undefined)
    expect(await Promise.all(waiting)).not.toContainEqual(busy)
    expect(await why()).toMatchObject({ status: 404 })
  })
})
