import { expect, it } from '@jest/globals'
import { createBadHeaderReport } from '../../../dataplane/connections/bad-header-report.ts'

it('reports the first at once, then once a minute how many there were', () => {
  const told: unknown[] = []
  let now = 0
  const report = createBadHeaderReport({ warn: (_, fields) => told.push(fields) }, () => now)
  report('10.0.0.1', 'late')
  for (let each = 0; each < 1000; each++) report('10.0.0.2', 'malformed')
  now = 59_999
  report('10.0.0.2', 'malformed')
  expect(told).toEqual([{ balancer: '10.0.0.1', reason: 'late', connections: 1 }])
  now = 60_000
  report('10.0.0.3', 'late')
  expect(told.slice(1)).toEqual([{ balancer: '10.0.0.3', reason: 'late', connections: 1002 }])
})
