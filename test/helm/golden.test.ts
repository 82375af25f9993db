// test/golden/helm/<case>/values.yaml: values. What the chart makes of them, in a cluster with Prometheus' operator, is
// kept whole for `defaults` (out.yaml, notes.txt), for every other case as its difference from that (difference.yaml).
// UPDATE_GOLDEN=1 writes these files anew; read what changed in them before committing it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, it, jest } from '@jest/globals'
import { parse } from 'yaml'
import {
  CHART,
  helmAvailability,
  type KubernetesObject,
  MONITORING,
  objectsIn,
  renderChart,
  renderNotes,
  renderObjects,
  runHelm,
} from '../support/helm.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import {
  applyDifference,
  type Difference,
  findDifference,
  objectsByName,
  type Rendering,
  writeDifference,
} from './difference.ts'

jest.setTimeout(120_000)

const IS_UPDATE = env['UPDATE_GOLDEN'] === '1'
const GOLDEN = join(import.meta.dirname, '../golden/helm')
const DEFAULTS = 'defaults'
const CASES = readdirSync(GOLDEN)
const OTHERS = CASES.filter((name) => name !== DEFAULTS)

const valuesOf = (name: string) =>
  parse(readFileSync(join(GOLDEN, name, 'values.yaml'), 'utf8')) as {
    readonly fullnameOverride?: string
  }

/** Made at random, unless it is there: the one thing that differs each time. */
const RANDOM = /^ {2}oidc-state\.json: .*$/m
/** Without what is random, and a long line of JSON. */
const shorten = (text: string): string =>
  text
    .replace(RANDOM, '  oidc-state.json: RANDOM')
    .replace(/^( {2}svc-gateway\.json: ).*$/m, '$1DASHBOARD')

/** They are compared with the files that they come from. */
const leaveOutGenerated = (text: string): string =>
  text
    .split(/^---\n/m)
    .filter((document) => !/^kind: (CustomResourceDefinition|ClusterRole)$/m.test(document))
    .join('---\n')

/** What is kept of it. */
const golden = (name: string, file: string, text: string): string => {
  const path = join(GOLDEN, name, file)
  if (IS_UPDATE) writeFileSync(path, text)
  return readFileSync(path, 'utf8')
}

interface Rendered {
  readonly text: string
  readonly notes: string
}

const render = async (name: string): Promise<Rendered> => {
  const values = valuesOf(name)
  const [text, notes] = await Promise.all([renderChart({ values }), renderNotes({ values })])
  return { text: shorten(text), notes }
}

const parseRendered = ({ text, notes }: Rendered): Rendering => ({
  objects: objectsByName(objectsIn(text)),
  comments: Array.from(text.matchAll(/^ *(# (?!Source: ).*)$/gm), ([, line]) => line).join('\n'),
  notes,
})

/** Rendered with more labels and annotations. */
const generatedObjects = (): readonly KubernetesObject[] => {
  const read = (file: string): unknown =>
    parse(readFileSync(join(CHART, 'generated', file), 'utf8'))
  const kinds = readdirSync(join(CHART, 'generated/crds')).map((file) => read(`crds/${file}`))
  const { clusterRoles } = read('rbac.yaml') as { readonly clusterRoles: readonly unknown[] }
  return [...kinds, ...clusterRoles] as readonly KubernetesObject[]
}

describeWhenAvailable('the chart', helmAvailability(), () => {
  const rendered = new Map<string, Promise<Rendered>>()
  const renderOnce = (name: string): Promise<Rendered> => {
    const result = rendered.get(name) ?? render(name)
    rendered.set(name, result)
    return result
  }

  it('defaults: is rendered as before', async () => {
    const { text, notes } = await renderOnce(DEFAULTS)
    const out = leaveOutGenerated(text)
    expect(out).toBe(golden(DEFAULTS, 'out.yaml', out))
    expect(notes).toBe(golden(DEFAULTS, 'notes.txt', notes))
  })

  it.each(OTHERS)('%s: differs from the defaults as before', async (name) => {
    const defaults = parseRendered(await renderOnce(DEFAULTS))
    const rendering = parseRendered(await renderOnce(name))
    const { fullnameOverride } = valuesOf(name)
    const renamed = fullnameOverride === undefined ? {} : { 'demo-svc-gateway': fullnameOverride }
    const text = writeDifference(findDifference(defaults, rendering, renamed))
    const kept = golden(name, 'difference.yaml', text)
    expect(text).toBe(kept)
    // Nothing is lost in it.
    expect(applyDifference(defaults, parse(kept) as Difference)).toStrictEqual(rendering)
  })

  it('defaults: what is generated is rendered as it is', async () => {
    const { objects } = parseRendered(await renderOnce(DEFAULTS))
    expect(objects).toMatchObject(objectsByName(generatedObjects()))
  })

  it.each(CASES)('%s: passes lint', async (name) => {
    const { code, stdout } = await runHelm(['lint', CHART, '--strict', '--namespace', 'gateways'], {
      values: valuesOf(name),
    })
    expect({ code, errors: /\[(ERROR|WARNING)\].*/.exec(stdout)?.[0] }).toEqual({ code: 0 })
  })

  it.each(CASES)('%s: each object once, labelled, in its namespace', async (name) => {
    const objects = objectsIn((await renderOnce(name)).text)
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

  it('shows no monitor, rule or sidecar where they are not known or not wanted', async () => {
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
