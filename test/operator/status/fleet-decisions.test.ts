// Tests `/why/ID` of the operator with gateways that are servers on loopback: who is asked, what is collected, and what
// is said if none of them knows.

import { afterEach, describe, expect, it } from '@jest/globals'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findDecisions } from '../../../operator/fleet/find-decisions.ts'
import { ManagementClient } from '../../../operator/fleet/management-client.ts'
import type { Page } from '../../../operator/status/page.ts'
import { fleetPages, type FleetSources } from '../../../operator/status/fleet-pages.ts'
import { aDecision } from '../../support/a-decision.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const asked: string[] = []

/** A gateway whose management API says this to everything. */
const gateway = async (name: string, status: number, body: string) => {
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new ManagementClient(
    { name, url, labels: {} },
    { credentials: () => Promise.resolve({ tls: {} }), timeoutMs: 5000 },
  )
  closing.push(async () => {
    await client.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { name, client, isShared: true, isReady: true }
}

const pageOf = async (sources: FleetSources, id: string): Promise<Page> => {
  const page = await fleetPages(sources)['/why/:id']?.(id)
  if (page === undefined || page === 'not found') throw new Error('there is no such page')
  return page
}

const KEPT_DECISION = aDecision({ id: 'a/b', status: 404 })
const KEPT = JSON.stringify({ decisions: [{ odd: true }, KEPT_DECISION], processes: {} })
const NOT_KEPT = JSON.stringify({ code: 'svc.error.not_found', message: 'none', description: '' })

describe('/why/ID of the operator', () => {
  it('collects the decisions of the gateways that keep some', async () => {
    asked.length = 0
    const gateways = await Promise.all([
      gateway('two', 200, KEPT),
      gateway('one', 200, KEPT),
      gateway('none', 404, NOT_KEPT),
      gateway('odd', 200, '{"decisions":7}'),
      gateway('broken', 500, ''),
      gateway('huge', 200, JSON.stringify({ decisions: [{ id: 'x'.repeat(300_000) }] })),
    ])
    const decisions = [KEPT_DECISION]
    expect(await pageOf({ fleet: () => ({ reachable: () => gateways }) }, 'a/b')).toEqual({
      json: {
        gateways: [
          { name: 'one', decisions },
          { name: 'two', decisions },
        ],
        asked: 6,
        answered: 3,
        silent: ['broken', 'huge', 'odd'],
      },
    })
    expect(new Set(asked)).toEqual(new Set(['/why/a%2Fb']))
  })

  it('prefers the shared pool, however many sidecars claim to know', async () => {
    const named = (name: string, isShared: boolean) => ({
      name,
      isShared,
      client: {
        why: () =>
          Promise.resolve({ result: 'ok', value: [KEPT_DECISION], etag: undefined } as const),
      },
    })
    const sidecars = Array.from({ length: 40 }, (_, i) => named(`a/${i}`, false))
    const found = await findDecisions([...sidecars, named('z/pool', true)], 'a/b')
    expect([found.gateways[0]?.name, found.gateways.length]).toEqual(['z/pool', 32])
  })

  it('is 404 if no gateway keeps any, and says how many have answered', async () => {
    const gateways = [await gateway('one', 404, NOT_KEPT), await gateway('two', 500, '')]
    expect(await pageOf({ fleet: () => ({ reachable: () => gateways }) }, 'some-id')).toMatchObject(
      {
        status: 404,
        json: {
          code: 'svc.error.not_found',
          message: expect.stringContaining('1 of 2 gateways have answered'),
        },
      },
    )
  })

  it.each(['', 'a b', 'ä', 'x'.repeat(129)])('is 400 for %j, and asks no gateway', async (id) => {
    const fleet = (): never => {
      throw new Error('asked')
    }
    expect(await pageOf({ fleet }, id)).toMatchObject({ status: 400 })
  })

  it('of a standby names the leader', async () => {
    const leader = () => ({ role: 'standby', leader: null, message: 'pod-1 leads' }) as const
    expect(await pageOf({ fleet: () => undefined, leader }, 'some-id')).toEqual({
      error: 'pod-1 leads',
    })
  })
})
