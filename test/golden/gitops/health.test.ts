// test/golden/gitops/<state>.yaml: an ApiSpecification as the API server has it in that state, its status written by
// the operator's own code, and how healthy Argo CD and kstatus (Flux) find it. UPDATE_GOLDEN=1 writes the files anew,
// where redis-server is there to run the check; read what changed in them before committing it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parse, stringify } from 'yaml'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import type { DesiredSet } from '../../../operator/desired-set.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import type { ResourceResult } from '../../../operator/reconcile/resource-result.ts'
import { nothingFoundBy } from '../../../operator/resource/condition.ts'
import { API_VERSION, type Resource } from '../../../operator/resource/resource.ts'
import { API_SPECIFICATION_STATUS } from '../../../operator/resource/status-schema.ts'
import { statusObject } from '../../../operator/status/kubernetes-status-object.ts'
import { type ArgoCdChecker, startArgoCdChecker } from '../../support/argocd-health.ts'
import { kstatus } from '../../support/kstatus.ts'
import { redisAvailability } from '../../support/redis-server.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

const IS_UPDATE = env['UPDATE_GOLDEN'] === '1'

const REALM = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })
const NAMED_SECRET = { variablesFrom: [{ name: 'token', secretRef: { name: 'keys', key: 'k' } }] }
const PAUSED = { annotations: { 'gateway.svc.dev/paused': 'true' } }

interface Version {
  readonly generation: number
  readonly document?: object
  readonly spec?: object
  readonly known?: { readonly annotations?: object }
  readonly status?: object | undefined
}

const orders = ({ generation, document = {}, spec = {}, known, status }: Version): Resource => {
  const content = { spec: { document: aSpecification('orders', document), ...spec }, status }
  return resourceOf('ApiSpecification', 'orders', content, { generation, ...known })
}

/** Gateways that hold all that they should, or nothing yet. */
type Gateways = 'hold' | 'hold nothing' | 'are not there'

const reportsOf = (gateways: Gateways, desired: DesiredSet): readonly DataPlaneReport[] => {
  if (gateways === 'are not there') return []
  const held = gateways === 'hold' ? [...desired.documents] : []
  const report: DataPlaneReport = {
    dataPlane: { name: 'shop/gateway', url: 'https://10.0.0.1:18081', labels: {} },
    phase: gateways === 'hold' ? 'synced' : 'syncing',
    message: '',
    ready: gateways === 'hold',
    documents: new Map(held.map(([id, { digest }]) => [id, { digest, warnings: [] }])),
    realms: new Map(),
    realmsGiven: new Set(),
    rejected: { documents: new Map(), realms: new Map() },
  }
  return [report]
}

const NOW_MS = Date.UTC(2026, 10, 23)

/** What the operator writes after it has seen these versions, one after the other. */
const statusAfter = (
  ...steps: readonly (readonly [version: Version, gateways: Gateways])[]
): object | undefined => {
  const reconciler = new Reconciler({ className: 'svc' })
  const book = new StatusRegistry()
  let status: object | undefined
  for (const [index, [version, gateways]] of steps.entries()) {
    const cache = cacheOf([REALM, orders(version)], { version: index + 1 })
    const { results, desired } = reconciler.reconcile(cache)
    const reports = reportsOf(gateways, desired)
    const statuses = book.update(results, reports, NOW_MS + index * 60_000)
    const found = statuses.get('ApiSpecification/default/orders')
    status = found && statusObject(found)
  }
  return status
}

const GOOD: Version = { generation: 1 }

const STATES: Readonly<Record<string, () => object>> = {
  '1-new': () => ({
    metadata: { generation: 1 },
    status: API_SPECIFICATION_STATUS.default,
  }),
  '2-on-its-way': () => ({
    metadata: { generation: 1 },
    status: statusAfter([GOOD, 'hold nothing']),
  }),
  '3-ready': () => ({ metadata: { generation: 1 }, status: statusAfter([GOOD, 'hold']) }),
  '4-changed-since': () => ({ metadata: { generation: 2 }, status: statusAfter([GOOD, 'hold']) }),
  '5-invalid-the-one-before-serves': () => ({
    metadata: { generation: 2 },
    status: statusAfter([GOOD, 'hold'], [{ generation: 2, document: { host: 5 } }, 'hold']),
  }),
  '6-reference-missing': () => ({
    metadata: { generation: 1 },
    status: statusAfter([{ generation: 1, spec: NAMED_SECRET }, 'hold']),
  }),
  '7-no-gateways': () => ({
    metadata: { generation: 1 },
    status: statusAfter([GOOD, 'are not there']),
  }),
  '8-paused': () => ({
    metadata: { generation: 2, ...PAUSED },
    status: statusAfter([GOOD, 'hold'], [
      { generation: 2, document: { name: 'changed' }, known: PAUSED },
      'hold',
    ]),
  }),
}

const objectOf = (state: string): ValueMap => {
  const object = STATES[state]?.() as { readonly metadata: object } | undefined
  const metadata = { name: 'orders', namespace: 'default', ...object?.metadata }
  const whole = { apiVersion: API_VERSION, kind: 'ApiSpecification', ...object, metadata }
  // As it arrives: without what is undefined.
  return JSON.parse(JSON.stringify(whole)) as ValueMap
}

interface Golden {
  readonly argocd: unknown
  readonly kstatus: string
  readonly object: ValueMap
}

const pathOf = (state: string): string => join(import.meta.dirname, `${state}.yaml`)
const golden = (state: string): Golden => parse(readFileSync(pathOf(state), 'utf8')) as Golden

it('there is a file for each state, and for no other', () => {
  if (IS_UPDATE) return
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'))
  expect(files.sort()).toEqual(Object.keys(STATES).map((state) => `${state}.yaml`))
})

describe('health', () => {
  it.each(Object.keys(STATES))('%s, as the operator writes it and Flux reads it', (state) => {
    if (IS_UPDATE) return
    const object = objectOf(state)
    expect({ object, kstatus: kstatus(object) }).toEqual({
      object: golden(state).object,
      kstatus: golden(state).kstatus,
    })
  })
})

describe('what stands in the API while a newer generation is validated', () => {
  it('is of the older one, also under an operator that has just begun to lead', () => {
    const recorded = statusAfter([GOOD, 'hold'])
    const resource = orders({ generation: 2, status: recorded })
    if (resource.kind !== 'ApiSpecification') throw new Error('no ApiSpecification')
    const pending = { status: 'Unknown', reason: 'Pending', message: 'being compiled' } as const
    const result: ResourceResult = {
      resource, errors: [], warnings: [], isPending: true,
      accepted: { type: 'Accepted', ...pending },
      resolvedRefs: { type: 'ResolvedRefs', ...pending },
      found: nothingFoundBy('document'),
    }
    const [found] = new StatusRegistry().update(new Map([['key', result]]), [], NOW_MS).values()
    const status = found && statusObject(found)
    expect(status).toEqual(recorded)
    const object = JSON.parse(JSON.stringify({ metadata: { generation: 2 }, status })) as ValueMap
    expect(kstatus(object)).toBe('InProgress')
  })
})

describeWhenAvailable('health by the check for Argo CD', redisAvailability(), () => {
  let checker: ArgoCdChecker
  beforeAll(async () => {
    checker = await startArgoCdChecker()
  })
  afterAll(async () => {
    await checker[Symbol.asyncDispose]()
  })

  it.each(Object.keys(STATES))('%s', async (state) => {
    const object = objectOf(state)
    const argocd = await checker.check(object)
    if (IS_UPDATE) {
      const found: Golden = { argocd, kstatus: kstatus(object), object }
      writeFileSync(pathOf(state), stringify(found, { lineWidth: 0 }))
    }
    expect(argocd).toEqual(golden(state).argocd)
  })
})
