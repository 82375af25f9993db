import { describe, expect, it } from '@jest/globals'
import type { AuditEvent } from '../../../../dataplane/audit.ts'
import { createFailureReport } from '../../../../dataplane/security/schemes/failure-report.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const EVENT: AuditEvent = {
  event: 'authentication',
  outcome: 'failure',
  reason: 'wrong_password',
  realm: 'a.b',
  scheme: 'basic',
  address: '192.0.2.1',
  requestId: 'r',
}

const setUp = () => {
  const clock = createManualClock()
  const told: (string | undefined)[] = []
  const report = createFailureReport(
    ({ count }) => told.push(count),
    () => clock.now(),
  )
  return { clock, told, report }
}

describe('createFailureReport', () => {
  it('reports the first, the tenth, the hundredth, …', () => {
    const { told, report, clock } = setUp()
    for (let time = 0; time < 1500; time++) report(EVENT)
    expect(told).toEqual([undefined, '10', '100', '1000'])
    clock.advance(60_001)
    report(EVENT)
    expect(told).toHaveLength(5)
    expect(told.at(-1)).toBeUndefined()
  })

  it('reports by kind and place, not by name', () => {
    const { told, report } = setUp()
    report(EVENT)
    for (let user = 0; user < 9; user++) report({ ...EVENT, authid: `user-${user}` })
    expect(told).toEqual([undefined, '10'])
    for (const other of [{ reason: 'revoked' }, { realm: 'x' }, { address: 'y' }])
      report({ ...EVENT, ...other })
    report({ ...EVENT, scheme: 'oidc' })
    expect(told).toHaveLength(6)
  })

  it('is no flood from many places', () => {
    const { told, report, clock } = setUp()
    const flood = (): void => {
      for (let place = 0; place < 3000; place++) report({ ...EVENT, address: `place-${place}` })
    }
    flood()
    expect(told).toHaveLength(1000 + 20)
    clock.advance(60_001)
    flood()
    expect(told).toHaveLength(2 * (1000 + 20))
  })
})
