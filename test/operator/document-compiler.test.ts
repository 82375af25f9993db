// Reconciling while large documents are compiled elsewhere.

import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import type {
  BoundedCompiler,
  CompileRequest,
  Quarantined,
} from '../../compiler/bounded-compiler.ts'
import { CachingCompiler } from '../../operator/document-compiler.ts'
import {
  compileDocument,
  type DocumentResult,
} from '../../operator/reconcile/documents/compile-document.ts'
import { type Reconciliation, Reconciler } from '../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../operator/reconcile/status/status-registry.ts'
import type { ResourceStatus } from '../../operator/reconcile/status/status-entry.ts'
import { recordedStatus, statusObject } from '../../operator/status/kubernetes-status-object.ts'
import { type Resource, resourceKey } from '../../operator/resource/resource.ts'
import { isMap } from '../../language/expression/value.ts'
import { createSilentLog } from '../../telemetry/log.ts'
import { settled } from '../support/settled.ts'
import { aSpecification, cacheOf, resourceOf } from '../support/resources.ts'

const realm = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })

type Known = Parameters<typeof resourceOf>[3]

const orders = (more: object = {}, rest: object = {}, known: Known = {}): Resource =>
  resourceOf(
    'ApiSpecification',
    'orders',
    { spec: { document: aSpecification('orders', more) }, ...rest },
    known,
  )

/** Documents with `meta.large` take until a test ends them; with `meta.costly` they are too expensive. */
class FakeCompiler implements Pick<
  BoundedCompiler<DocumentResult>,
  'compile' | 'isSmall' | 'limitsVersion'
> {
  readonly limitsVersion = 'limits 1'
  readonly asked: CompileRequest[] = []
  #waiting: (() => void)[] = []

  isSmall(document: unknown): boolean {
    return metaOf(document)['large'] !== true
  }

  compile(request: CompileRequest): DocumentResult | Promise<DocumentResult> {
    const { document, quarantined } = request
    if (this.isSmall(document)) return compileDocument(request, { maxRoutes: 10 })
    const refused = {
      problems: [{ code: 'too_expensive', path: '', message: 'dear' } as const],
      warnings: [],
    }
    if (quarantined?.digest === request.digest() && quarantined.limits === this.limitsVersion)
      return refused
    this.asked.push(request)
    const isCostly = metaOf(document)['costly'] === true
    const { promise, resolve, reject } = Promise.withResolvers<DocumentResult>()
    request.signal?.addEventListener('abort', () => {
      reject(new Error('given up'))
    })
    this.#waiting.push(() => {
      if (metaOf(document)['broken'] === true) reject(new Error('a bug'))
      else resolve(isCostly ? refused : compileDocument(request, { maxRoutes: 10 }))
    })
    return promise
  }

  async finish(): Promise<void> {
    for (const done of this.#waiting.splice(0)) done()
    await settled()
  }
}

const metaOf = (document: unknown): Readonly<Record<string, unknown>> => {
  const meta = isMap(document) ? document['meta'] : undefined
  return isMap(meta) ? meta : {}
}

const anOperator = () => {
  const compiler = new FakeCompiler()
  const book = new StatusRegistry()
  const told: string[] = []
  const reconciler = new Reconciler({
    className: 'svc',
    compiler: new CachingCompiler({
      compiler,
      onResult: () => told.push('again'),
      log: createSilentLog(),
    }),
  })
  const look = (...resources: readonly Resource[]) => {
    const result = reconciler.reconcile(cacheOf([realm, ...resources]))
    const statuses = book.update(result.results, [], 1_000)
    return { result, status: statuses.get(KEY), conditions: conditionsOf(statuses.get(KEY)) }
  }
  return { compiler, reconciler, told, look }
}

const KEY = resourceKey('ApiSpecification', 'default', 'orders')
const LARGE = { meta: { large: true } }
const COSTLY = { meta: { large: true, costly: true } }

const conditionsOf = (status: ResourceStatus | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: is, reason, observedGeneration }) => [
      type,
      `${is} ${reason} ${observedGeneration}`,
    ]),
  )

const servedOf = ({ desired }: Reconciliation): unknown =>
  desired.documents.get('orders')?.spec['meta']

describe('a large document', () => {
  it('is pending, then what it would have been at once', async () => {
    const { compiler, told, look } = anOperator()
    const resource = orders(LARGE)
    const before = look(resource)
    expect(before.conditions).toMatchObject({
      Accepted: 'Unknown Pending 1',
      Programmed: 'Unknown Pending 1',
      Ready: 'Unknown Pending 1',
    })
    expect(before.result.desired.documents.size).toBe(0)
    await compiler.finish()
    expect(told).toEqual(['again'])
    const after = look(resource).result
    const atOnce = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, resource]))
    expect(after.desired.documents.get('orders')).toEqual(atOnce.desired.documents.get('orders'))
    expect(after.results.get(KEY)).toEqual(atOnce.results.get(KEY))
    expect(compiler.asked).toHaveLength(1)
  })

  it('is compiled once also where its namespace may not use a credential of its realm', async () => {
    const { compiler, reconciler } = anOperator()
    const token = { secretRef: { name: 'billing', key: 'token' } }
    const billing = {
      origins: ['https://billing.example'],
      bearer: { token },
      allowedNamespaces: { from: 'Same' },
    }
    const spec = { uri: 'com.shop', allowedNamespaces: { from: 'All' }, credentials: { billing } }
    const resources = [
      resourceOf('Realm', 'shop', { spec }, { namespace: 'realms' }),
      resourceOf('Secret', 'billing', { stringData: { token: 's' } }, { namespace: 'realms' }),
      orders(LARGE),
    ]
    for (const version of [1, 2]) reconciler.reconcile(cacheOf(resources, { version }))
    await compiler.finish()
    const { desired } = reconciler.reconcile(cacheOf(resources, { version: 3 }))
    expect([...desired.documents.keys()]).toEqual(['orders'])
    expect(compiler.asked).toHaveLength(1)
  })

  it('that changes serves as it was, and says what it said, until the new one is compiled', async () => {
    const { compiler, look } = anOperator()
    const first = look(orders())
    const pending = look(orders(LARGE, {}, { generation: 2 }))
    expect([servedOf(pending.result), pending.status]).toEqual([undefined, first.status])
    expect(pending.result.desired.documents.has('orders')).toBe(true)
    await compiler.finish()
    const after = look(orders(LARGE, {}, { generation: 2 }))
    expect([servedOf(after.result), after.conditions['Accepted']]).toEqual([
      { large: true },
      'True Accepted 2',
    ])
  })

  it('that changes again, or goes, is given up', async () => {
    const { compiler, told, look } = anOperator()
    look(orders(LARGE))
    look(orders({ meta: { large: true, more: 1 } }, {}, { generation: 2 }))
    expect(compiler.asked.map(({ signal }) => signal?.aborted)).toEqual([true, false])
    look()
    expect(compiler.asked.map(({ signal }) => signal?.aborted)).toEqual([true, true])
    await compiler.finish()
    expect(told).toEqual([])
  })

  it('asks for its namespace, and its digest has no value of a Secret', () => {
    const { compiler, look } = anOperator()
    const secret = (password: string): Resource =>
      resourceOf('Secret', 'keys', { stringData: { password } })
    const from = {
      spec: {
        document: aSpecification('orders', LARGE),
        variablesFrom: [{ secretRef: { name: 'keys' } }],
      },
    }
    look(resourceOf('ApiSpecification', 'orders', from), secret('a'))
    const other = anOperator()
    other.look(resourceOf('ApiSpecification', 'orders', from), secret('b'))
    const [asked, askedOther] = [compiler.asked[0], other.compiler.asked[0]]
    expect([asked?.namespace, asked?.variables, askedOther?.variables]).toEqual([
      'default',
      { password: 'a' },
      { password: 'b' },
    ])
    expect(asked?.digest()).toBe(askedOther?.digest())
  })

  it('that could not be compiled for another reason says so', async () => {
    const { compiler, look } = anOperator()
    look(orders({ meta: { large: true, broken: true } }))
    await compiler.finish()
    const { status } = look(orders({ meta: { large: true, broken: true } }))
    expect(status?.result.accepted).toMatchObject({ status: 'False', reason: 'TooExpensive' })
    expect(status?.result.quarantined).toBeUndefined()
  })
})

describe('a document that is too expensive', () => {
  const refusedOnce = async (): Promise<{ quarantined: Quarantined; status: object }> => {
    const { compiler, look } = anOperator()
    look(orders(COSTLY))
    await compiler.finish()
    const { status, conditions } = look(orders(COSTLY))
    expect(conditions).toMatchObject({
      Accepted: 'False TooExpensive 1',
      Ready: 'False TooExpensive 1',
      Stalled: 'True TooExpensive 1',
    })
    if (status?.result.quarantined === undefined) throw new Error('it is not in quarantine')
    return { quarantined: status.result.quarantined, status: statusObject(status) }
  }

  it('is not compiled again after a restart: its status tells', async () => {
    const { quarantined, status } = await refusedOnce()
    expect(status).toMatchObject({
      quarantinedDigest: quarantined.digest,
      quarantinedLimits: 'limits 1',
    })
    const { compiler, look } = anOperator()
    const { conditions, status: after } = look(orders(COSTLY, { status }))
    expect([compiler.asked, conditions['Accepted']]).toEqual([[], 'False TooExpensive 1'])
    // Nothing would be written.
    const resource = orders(COSTLY, { status })
    if (after === undefined || resource.kind !== 'ApiSpecification') throw new Error('no status')
    expect(statusObject(after)).toMatchObject({ quarantinedDigest: quarantined.digest })
    expect(recordedStatus(resource)).toMatchObject({ quarantinedDigest: quarantined.digest })
  })

  it.each<[string, object, object]>([
    ['it says something else', { meta: { large: true, costly: true, less: 1 } }, {}],
    ['the limits are others', COSTLY, { quarantinedLimits: 'limits 2' }],
  ])('is compiled again where %s', async (_, more, other) => {
    const { status } = await refusedOnce()
    const { compiler, look } = anOperator()
    look(orders(more, { status: { ...status, ...other } }))
    expect(compiler.asked).toHaveLength(1)
  })
})

describe('a restart', () => {
  const serving = async (): Promise<object> => {
    const { compiler, look } = anOperator()
    look(orders(LARGE))
    await compiler.finish()
    const { result, status } = look(orders(LARGE))
    if (status === undefined) throw new Error('there is no status')
    const digest = result.desired.documents.get('orders')?.digest
    return { ...statusObject(status), programmedGeneration: 1, programmedDigest: digest }
  }

  it.each([
    ['waits for what serves', LARGE, true],
    ['does not wait for what has changed since', { meta: { large: true, more: 1 } }, false],
  ])('%s', async (_, more, isAwaited) => {
    const status = await serving()
    const { compiler, reconciler } = anOperator()
    const cache = cacheOf([realm, orders(more, { status })])
    expect(reconciler.prepare(cache)).toBe(!isAwaited)
    expect(compiler.asked[0]).toMatchObject({
      purpose: isAwaited ? 'serving' : 'edit',
      namespace: 'default',
    })
    await compiler.finish()
    expect(reconciler.prepare(cache)).toBe(true)
    const { desired, missing } = reconciler.reconcile(cache)
    expect([[...desired.documents.keys()], missing]).toEqual([['orders'], []])
    expect(compiler.asked).toHaveLength(1)
  })

  it('follows a policy of its namespace that came while it was compiled', async () => {
    const { compiler, look } = anOperator()
    look(orders(LARGE))
    const annotations = { 'gateway.svc.dev/destinations': 'own' }
    const policy = resourceOf('Namespace', 'default', {}, { annotations })
    look(orders(LARGE), policy)
    await compiler.finish()
    const { desired } = look(orders(LARGE), policy).result
    expect(desired.documents.get('orders')?.confinedTo).toBe('default')
    expect(compiler.asked).toHaveLength(1)
  })

  it('validates again what has lost its realm while it waited', async () => {
    const status = await serving()
    const { compiler, reconciler } = anOperator()
    const small = resourceOf('ApiSpecification', 'small', {
      spec: { document: aSpecification('small') },
    })
    const documents = [orders(LARGE, { status }), small]
    expect(reconciler.prepare(cacheOf([realm, ...documents]))).toBe(false)
    await compiler.finish()
    const { results } = reconciler.reconcile(cacheOf(documents))
    const key = resourceKey('ApiSpecification', 'default', 'small')
    expect(results.get(key)?.resolvedRefs.reason).toBe('RealmNotFound')
  })

  it('keeps what data planes hold of a changed document, and looks for no older text of it yet', async () => {
    const status = await serving()
    const { look } = anOperator()
    const { result, conditions } = look(orders({ meta: { large: true, more: 1 } }, { status }))
    expect([[...result.desired.kept.documents], result.missing]).toEqual([['orders'], []])
    expect(conditions['Accepted']).toBe('True Accepted 1')
  })
})

describe('many small documents that one edit concerns', () => {
  const COST_MS = 60
  const document = (name: string, namespace: string, more: object = {}): Resource =>
    resourceOf(
      'ApiSpecification',
      name,
      { spec: { document: aSpecification(name, more) } },
      { namespace, uid: name },
    )
  const shop = (authmethods: readonly string[], allowed = 'All'): Resource =>
    resourceOf('Realm', 'shop', {
      spec: { uri: 'com.shop', authmethods, allowedNamespaces: { from: allowed } },
    })
  const crowd = Array.from({ length: 20 }, (_, i) => document(`c${i}`, 'crowd'))

  const aSlowOperator = () => {
    const compiled: string[] = []
    const told: string[] = []
    let nowMs = 0
    const compile = (request: CompileRequest): DocumentResult => {
      nowMs += COST_MS
      const result = compileDocument(request, { maxRoutes: 10 })
      compiled.push('compiled' in result ? result.compiled.id : '')
      return result
    }
    const reconciler = new Reconciler({
      className: 'svc',
      compiler: new CachingCompiler({
        compiler: { compile, isSmall: () => true, limitsVersion: '1' },
        onResult: () => told.push('again'),
        log: createSilentLog(),
        now: () => nowMs,
      }),
    })
    return { compiled, told, reconciler }
  }

  it('are compiled a few at a time, and serve meanwhile as they did', async () => {
    const { compiled, told, reconciler } = aSlowOperator()
    const first = reconciler.reconcile(cacheOf([shop([]), ...crowd]))
    // What was never validated does not wait.
    expect(compiled).toHaveLength(20)
    await setImmediate()
    compiled.length = 0
    const cache = cacheOf([shop(['oidcrp', 'cookie']), ...crowd])
    let last = reconciler.reconcile(cache)
    expect(compiled).toHaveLength(4)
    expect(last.desired.documents).toEqual(first.desired.documents)
    for (let turn = 1; turn < 5; turn += 1) {
      await setImmediate()
      expect(told.splice(0)).toEqual(['again'])
      last = reconciler.reconcile(cache)
      expect(compiled).toHaveLength(4 * (turn + 1))
    }
    await setImmediate()
    expect([new Set(compiled).size, told]).toEqual([20, []])
    const atOnce = new Reconciler({ className: 'svc' }).reconcile(cache)
    expect(new Map(last.desired.documents)).toEqual(new Map(atOnce.desired.documents))
    expect([...last.results.values()]).toEqual([...atOnce.results.values()])
  })

  it('take turns with those of other namespaces, whose edits do not wait for them', async () => {
    const { compiled, reconciler } = aSlowOperator()
    const before = [document('mine', 'other'), document('edited', 'third')]
    reconciler.reconcile(cacheOf([shop([]), ...crowd, ...before]))
    await setImmediate()
    reconciler.reconcile(cacheOf([shop(['oidcrp']), ...crowd, ...before]))
    await setImmediate()
    compiled.length = 0
    const edited = document('edited', 'third', { variables: { n: 1 } })
    const cache = cacheOf([shop(['oidcrp']), ...crowd, document('mine', 'other'), edited])
    const { desired } = reconciler.reconcile(cache)
    expect(compiled).toContain('edited')
    expect(desired.documents.get('edited')?.spec['variables']).toEqual({ n: 1 })
  })

  it('lose at once what their namespace may not use any more', async () => {
    const { reconciler } = aSlowOperator()
    const token = { secretRef: { name: 'billing', key: 'token' } }
    const billing = (from: string, authmethods: readonly string[]): Resource =>
      resourceOf('Realm', 'shop', {
        spec: {
          uri: 'com.shop',
          authmethods,
          allowedNamespaces: { from: 'All' },
          credentials: {
            billing: {
              origins: ['http://up.test'],
              allowedNamespaces: { from },
              bearer: { token },
            },
          },
        },
      })
    const secret = resourceOf('Secret', 'billing', { data: { token: 'YWJj' } })
    const action = { type: 'forward', host: 'http://up.test', credential: 'billing' }
    const versions = {
      v1: { base_path: '/v', paths: { '/a': { get: { action, response: {} } } } },
    }
    const users = Array.from({ length: 20 }, (_, i) => document(`c${i}`, 'crowd', { versions }))
    reconciler.reconcile(cacheOf([billing('All', []), secret, ...users]))
    await setImmediate()
    const { desired } = reconciler.reconcile(
      cacheOf([billing('Same', ['oidcrp']), secret, ...users]),
    )
    const withheld = [...desired.documents.values()].map((each) => each.withheld)
    expect(withheld).toEqual(new Array(20).fill(['billing']))
  })
})
