// Which providers are reported, and how often.

import { describe, expect, it } from '@jest/globals'
import type { DiscoveryFailure } from '../../../../dataplane/oidc/provider/discovery-failure.ts'
import {
  type RealmProvider,
  watchProviders,
} from '../../../../dataplane/oidc/provider/watch-providers.ts'
import type { OidcProviderRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { providerRecord, realmRecord } from '../room.ts'

const watch = () => {
  const clock = createManualClock({ startMs: 1_000_000 })
  const failures = new Map<OidcProviderRecord, DiscoveryFailure>()
  const reports: (readonly RealmProvider[])[] = []
  const realms = new Map([['com.a', realmRecord('com.a', {})]])
  let look = (): void => undefined
  watchProviders({
    providers: {
      failureOf: (record) => failures.get(record),
      get hasFailures() {
        return failures.size > 0
      },
    },
    realms: () => realms.values(),
    report: (failing) => reports.push(failing),
    now: () => clock.now(),
    every: (_, callback) => {
      look = callback
    },
  })
  return {
    failures,
    reports,
    realms,
    lookAfter: (ms: number) => {
      clock.advance(ms)
      look()
    },
  }
}

describe('the watch over providers', () => {
  const corp = providerRecord('https://idp.example')
  const failing = { realmUri: 'com.b', provider: 'corp', cause: 'dns' } as const

  it('reports what has begun to fail, once, and when it works again', () => {
    const { failures, reports, realms, lookAfter } = watch()
    realms.set('com.b', realmRecord('com.b', { corp }))
    lookAfter(10_000)
    failures.set(corp, { cause: 'dns' })
    for (let each = 0; each < 10; each++) lookAfter(10_000)
    expect(reports).toEqual([[failing]])
    failures.delete(corp)
    lookAfter(10_000)
    expect(reports).toEqual([[failing], []])
  })

  it('reports at most every half minute', () => {
    const { failures, reports, realms, lookAfter } = watch()
    realms.set('com.b', realmRecord('com.b', { corp }))
    for (let each = 0; each < 30; each++) {
      if (each % 2 === 0) failures.set(corp, { cause: 'dns' })
      else failures.delete(corp)
      lookAfter(10_000)
    }
    expect(reports.length).toBeLessThanOrEqual(10)
  })

  it('forgets a provider that the realm has no more', () => {
    const { failures, reports, realms, lookAfter } = watch()
    realms.set('com.b', realmRecord('com.b', { corp }))
    failures.set(corp, { cause: 'dns' })
    lookAfter(10_000)
    realms.delete('com.b')
    lookAfter(30_000)
    expect(reports).toEqual([[failing], []])
  })

  it('reports 200 at most', () => {
    const { failures, reports, realms, lookAfter } = watch()
    for (let each = 0; each < 300; each++) {
      const record = { ...corp, client_id: `${each}` }
      failures.set(record, { cause: 'dns' })
      realms.set(`com.r${each}`, realmRecord(`com.r${each}`, { corp: record }))
    }
    lookAfter(10_000)
    expect(reports[0]).toHaveLength(200)
  })
})
