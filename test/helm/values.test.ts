// A wrong value ends in words that name it; every value that there is may be given, and is described.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, jest } from '@jest/globals'
import { parse } from 'yaml'
import { CHART, helmAvailability, renderChart } from '../support/helm.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

jest.setTimeout(120_000)

const VALUES = readFileSync(join(CHART, 'values.yaml'), 'utf8')

const WRONG: readonly (readonly [values: object, says: string | RegExp])[] = [
  [{ replica: 2 }, "additional properties 'replica' not allowed"],
  [{ gateway: { replica: 2 } }, /at '\/gateway': additional properties 'replica' not allowed/],
  [{ gateway: { replicas: 'two' } }, /at '\/gateway\/replicas': got string, want integer/],
  [{ gateway: { replicas: -1 } }, /at '\/gateway\/replicas'/],
  [{ operator: { replicas: 1.5 } }, /at '\/operator\/replicas'/],
  [{ operator: { logLevel: 'verbose' } }, /at '\/operator\/logLevel'/],
  [{ image: { digest: 'sha256:abc' } }, /at '\/image\/digest'/],
  [{ image: { pullPolicy: 'Sometimes' } }, /at '\/image\/pullPolicy'/],
  [{ hostOwnership: 'mine' }, /at '\/hostOwnership'/],
  [{ class: 'A B' }, /at '\/class'/],
  [{ watch: { namespaces: 'shop' } }, /at '\/watch\/namespaces': got string, want array/],
  [{ gateway: { service: { type: 'Cluster' } } }, /at '\/gateway\/service\/type'/],
  [{ gateway: { service: { port: 70000 } } }, /at '\/gateway\/service\/port'/],
  [{ gateway: { accessLog: 'sometimes' } }, /at '\/gateway\/accessLog'/],
  [{ gateway: { extraArgs: ['log-level=debug'] } }, /at '\/gateway\/extraArgs\/0'/],
  [{ gateway: { tls: { secrets: [{ name: 'a' }] } } }, /at '\/gateway\/tls\/secrets\/0'/],
  [{ gateway: { constructor: 1 } }, "additional properties 'constructor' not allowed"],
  [{ redis: { away: 'ignore' } }, /at '\/redis\/away'/],
  [{ tracing: { share: 2 } }, /at '\/tracing\/share'/],
  [{ tracing: { endpoint: 'collector:4318' } }, /at '\/tracing\/endpoint'/],
  [{ commonLabels: { a: 1 } }, /at '\/commonLabels\/a'/],
  [
    { metrics: { serviceMonitor: { interval: 'often' } } },
    /at '\/metrics\/serviceMonitor\/interval'/,
  ],
  [
    { metrics: { prometheusRule: { disabled: ['NoSuchAlert'] } } },
    /at '\/metrics\/prometheusRule\/disabled\/0'/,
  ],
  // What several values say together.
  [{ gateway: { terminationGracePeriodSeconds: 20 } }, 'gateway.terminationGracePeriodSeconds'],
  [{ gateway: { service: { port: 0 } } }, 'gateway.service.port'],
  [
    { gateway: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } } },
    'gateway.autoscaling.minReplicas',
  ],
  [{ gateway: { extraCa: { configMap: 'a', secret: 'b' } } }, 'gateway.extraCa'],
  [{ sidecar: { enabled: true }, webhook: { enabled: false } }, 'sidecar.enabled'],
  [
    { sidecar: { enabled: true, namespaces: ['a'] }, watch: { namespaces: ['b'] } },
    'sidecar.namespaces',
  ],
  [{ fullnameOverride: 'sidecar' }, 'fullnameOverride'],
]

describeWhenAvailable('a wrong value', helmAvailability(), () => {
  it.each(WRONG)('%j is named', async (values, says) => {
    await expect(renderChart({ values })).rejects.toThrow(says)
  })
})

describeWhenAvailable('the default values', helmAvailability(), () => {
  it('may be given as they stand', async () => {
    const given = await renderChart({ values: parse(VALUES) })
    const left = await renderChart()
    const random = /oidc-state\.json: .*/
    expect(given.replace(random, '')).toBe(left.replace(random, ''))
  })
})

it('each value is described on the line before it', () => {
  const lines = VALUES.split('\n')
  const bare = lines.filter((line, i) => {
    const isLeaf = /^ *[\w]+: *\S/.test(line) && !/^ *#/.test(line)
    const before = lines[i - 1] ?? ''
    // Inside of a default that is an object or a list.
    return isLeaf && !/^ *# /.test(before) && !isWithinDefault(lines, i)
  })
  expect(bare).toEqual([])
})

/** Some line above, less indented than ours, is described itself: ours is part of its default. */
const isWithinDefault = (lines: readonly string[], at: number): boolean => {
  let indent = indentOf(lines[at] ?? '')
  for (let i = at - 1; i >= 0; i -= 1) {
    const line = lines[i] ?? ''
    if (line.trim() === '' || line.trim().startsWith('#') || indentOf(line) >= indent) continue
    if ((lines[i - 1] ?? '').trim().startsWith('# --')) return true
    indent = indentOf(line)
  }
  return false
}

const indentOf = (line: string): number => line.length - line.trimStart().length
