import { describe, expect, it } from '@jest/globals'
import { createMeasurements } from '../../dataplane/metrics.ts'
import { createEjectionReport } from '../../dataplane/upstream-ejections.ts'
import { createLog } from '../../telemetry/log.ts'

const rig = () => {
  let nowMs = 0
  const lines: Record<string, unknown>[] = []
  const destination = {
    write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>),
  }
  const { metrics } = createMeasurements()
  const log = createLog({ level: 'info', name: 'test', destination })
  const { onAddress: report, onHost } = createEjectionReport({ metrics, log }, () => nowMs)
  return {
    lines,
    metrics,
    report,
    onHost,
    pass: (ms: number): void => {
      nowMs += ms
    },
  }
}

const WHERE = { origin: 'http://up', address: '10.0.0.1', fault: 'status' } as const
const EJECTED = { kind: 'ejected', why: 'in a row', forMs: 10_000 } as const

describe('the log', () => {
  it('reports an ejection and its end, once each', () => {
    const { report, lines } = rig()
    report({ ...WHERE, realm: 'com.acme', change: EJECTED })
    report({ ...WHERE, realm: undefined, fault: undefined, change: { kind: 'readmitted' } })
    expect(lines).toMatchObject([
      {
        level: 'warn',
        ...WHERE,
        realm: 'com.acme',
        why: 'five requests failed in a row',
        seconds: 10,
      },
      { level: 'info', origin: 'http://up', address: '10.0.0.1' },
    ])
  })

  it('reports a host that cannot be reached, and the end of that', () => {
    const { onHost, lines } = rig()
    onHost({ origin: 'http://up', change: { ...EJECTED, why: 'probe' } }, 'com.acme')
    onHost({ origin: 'http://up', change: { kind: 'readmitted' } }, 'com.acme')
    const where = { origin: 'http://up', realm: 'com.acme' }
    expect(lines).toMatchObject([
      { level: 'warn', ...where, why: 'it failed again when it was tried', seconds: 10 },
      { level: 'info', ...where },
    ])
  })

  it('has at most thirty lines a minute of it, and says how many it left out', async () => {
    const { report, onHost, lines, pass, metrics } = rig()
    for (let count = 0; count < 100; count++)
      report({ ...WHERE, realm: undefined, change: EJECTED })
    onHost({ origin: 'http://up', change: EJECTED }, 'com.acme')
    expect(lines).toHaveLength(30)
    pass(60_000)
    report({ ...WHERE, realm: undefined, change: EJECTED })
    expect(lines).toHaveLength(32)
    expect(lines[30]).toMatchObject({ untold: 71 })
    const families = await metrics.exportState()
    const family = families.find(({ name }) => name === 'svc_gateway_upstream_ejections_total')
    expect(family?.values).toEqual([101])
  })
})
