// Tests how failures of many gateways are merged where some of them are sidecars that say anything: bounded, and none
// hides what the others say.

import { describe, expect, it } from '@jest/globals'
import { readFailures } from '../../../operator/fleet/client/read-decisions.ts'
import { type FailuresGateway, findFailures } from '../../../operator/fleet/find-failures.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { aDecision } from '../../support/a-decision.ts'

const NOW = 1_000_000_000
const QUERY = { match: '', before: null, limit: 50 }

const gateway = (name: string, failures: readonly ValueMap[]): FailuresGateway => ({
  name,
  client: {
    failures: () => {
      const value = readFailures({ failures }, NOW) ?? []
      return Promise.resolve({ result: 'ok', value, etag: undefined })
    },
  },
})

const failuresAt = (count: number, endedMs: (i: number) => number): readonly ValueMap[] =>
  Array.from({ length: count }, (_, i) => aDecision({ ended_ms: endedMs(i) }))

const honest = gateway(
  'pool',
  failuresAt(50, (i) => NOW - i),
)

describe('the failures of many gateways', () => {
  it('are none of the future', async () => {
    const hostile = gateway(
      'tenant',
      failuresAt(500, () => 9e15),
    )
    const { failures, next } = await findFailures([honest, hostile], QUERY)
    expect(new Set(failures.map((row) => row['gateway']))).toEqual(new Set(['pool']))
    expect([failures.length, next]).toEqual([50, NOW - 49])
  })

  it('are bounded, however many end at once', async () => {
    const many = Array.from({ length: 64 }, (_, i) =>
      gateway(
        `tenant/${i}`,
        failuresAt(500, () => NOW),
      ),
    )
    const { failures, next } = await findFailures(many, QUERY)
    expect([failures.length, next]).toEqual([150, NOW])
  })

  it('of a page are those before it, whatever a gateway gives', async () => {
    const { failures } = await findFailures([honest], { ...QUERY, before: String(NOW - 40) })
    expect(failures.map((row) => row['ended_ms'])).toEqual(
      Array.from({ length: 9 }, (_, i) => NOW - 41 - i),
    )
  })

  it('stand under the name of the gateway that gives them', async () => {
    const hostile = gateway('tenant', [aDecision({ ended_ms: NOW, gateway: 'pool' })])
    expect(await findFailures([hostile], QUERY)).toMatchObject({
      failures: [{ gateway: 'tenant' }],
    })
  })
})
