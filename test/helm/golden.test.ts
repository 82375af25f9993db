// test/golden/helm/<case>/values.yaml: values; out.yaml: what the chart makes of them, in a cluster with Prometheus'
// operator. UPDATE_GOLDEN=1 writes the out.yaml files anew; read the difference before committing it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, it, jest } from '@jest/globals'
import { parse } from 'yaml'
import {
  CHART,
  helmAvailability,
  MONITORING,
  objectsIn,
  renderChart,
  renderObjects,
  runHelm,
} from '../support/helm.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

jest.setTimeout(120_000)

const IS_UPDATE = env['UPDATE_GOLDEN'] === '1'
const GOLDEN = join(import.meta.dirname, '../golden/helm')
const CASES = readdirSync(GOLDEN)

const valuesOf = (name: string): unknown =>
  parse(readFileSync(join(GOLDEN, name, 'values.yaml'), 'utf8'))

/** Made at random, unless it is there: the one thing that differs each time. */
const RANDOM = /^ {2}oidc-state\.json: .*$/m
/** Generated files, which have tests of their own, and a long line of JSON. */
const shorten = (text: string): string =>
  text
    .replace(RANDOM, '  oidc-state.json: RANDOM')
    .split(/^---\n/m)
    .filter((document) => !/^kind: (CustomResourceDefinition|ClusterRole)$/m.test(document))
    .join('---\n')
    .replace(/^( {2}svc-gateway\.json: ).*$/m, '$1DASHBOARD')

describeWhenAvailable('the chart', helmAvailability(), () => {
  it.each(CASES)('%s: is rendered as before', async (name) => {
    const out = shorten(await renderChart({ values: valuesOf(name) }))
    const path = join(GOLDEN, name, 'out.yaml')
    if (IS_UPDATE) writeFileSync(path, out)
    expect(out).toBe(readFileSync(path, 'utf8'))
  })

  it.each(CASES)('%s: passes lint', async (name) => {
    const { code, stdout } = await runHelm(['lint', CHART, '--strict', '--namespace', 'gateways'], {
      values: valuesOf(name),
    })
    expect({ code, errors: /\[(ERROR|WARNING)\].*/.exec(stdout)?.[0] }).toEqual({ code: 0 })
  })

  it.each(CASES)('%s: each object once, labelled, in its namespace', async (name) => {
    const objects = await renderObjects({ values: valuesOf(name) })
    const keys = objects.map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
    )
    expect(new Set(keys).size).toBe(keys.length)
    for (const { metadata } of objects)
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/instance': 'demo',
        'app.kubernetes.io/managed-by': 'Helm',
      })
  })

  it('shows no monitor, rule or sidecar where nobody knows or wants them', async () => {
    const kinds = (await renderObjects({ kinds: [] })).map(({ kind }) => kind)
    expect(kinds).toContain('Deployment')
    expect(MONITORING.filter((kind) => kinds.includes(kind.split('/')[2] ?? ''))).toEqual([])
  })

  it('makes keys of logins that are new each time, for upgrades to keep', async () => {
    const texts = await Promise.all([renderChart(), renderChart()])
    const keys = texts.map((text) => RANDOM.exec(text)?.[0])
    expect(keys[0]).toBeDefined()
    expect(keys[0]).not.toBe(keys[1])
    const [secret] = objectsIn(texts[0]).filter(({ kind }) => kind === 'Secret')
    const data = secret?.['data'] as Readonly<Record<string, string>>
    const ring = JSON.parse(Buffer.from(data['oidc-state.json'] ?? '', 'base64').toString()) as {
      readonly keys: readonly { readonly k: string }[]
    }
    expect(Buffer.from(ring.keys[0]?.k ?? '', 'base64url')).toHaveLength(32)
  })
})
