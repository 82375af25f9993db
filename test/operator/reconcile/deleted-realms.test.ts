// Realms that are deleted while documents use them: for how long they serve on, who may have their uris meanwhile and
// after, and what is left of them.

import { describe, expect, it } from '@jest/globals'
import { SourceWithDeletedRealms } from '../../../operator/controller/deleted-realms.ts'
import type { DesiredSet } from '../../../operator/desired-set.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import type { ResourceCache } from '../../../operator/resource/resource-source.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { standingSource } from '../../support/standing-source.ts'

const URI = 'com.shop'
const NOW = { 'gateway.svc.dev/delete-now': 'true' }

interface RealmFacts {
  readonly name?: string
  readonly namespace?: string
  readonly uid?: string
  readonly age?: number
  readonly annotations?: object
  readonly spec?: object
}

const realm = ({
  name = 'shop',
  namespace = 'default',
  uid,
  age,
  annotations,
  spec,
}: RealmFacts = {}) =>
  resourceOf(
    'Realm',
    name,
    { spec: { uri: URI, ...spec } },
    {
      namespace,
      uid: uid ?? `uid-${namespace}-${name}`,
      ...(age !== undefined && { createdAt: age }),
      ...(annotations !== undefined && { annotations }),
    },
  )

const orders = (more: object = {}): Resource =>
  resourceOf('ApiSpecification', 'orders', {
    spec: { document: aSpecification('orders') },
    ...more,
  })

/** Names a Secret that is not there. */
const BROKEN = { callbackSecret: { secretRef: { name: 'keys', key: 'k' } } }

class World {
  readonly clock = createManualClock()
  readonly #reconciler = new Reconciler({ className: 'svc' })
  readonly #book = new StatusRegistry()
  #cache: ResourceCache = cacheOf([])
  readonly #source
  #last: Reconciliation | undefined

  constructor(servedMs = 60_000) {
    this.#source = new SourceWithDeletedRealms(
      standingSource(() => this.#cache),
      { clock: this.clock, servedMs },
    )
    void this.#source.start(() => {
      this.#last = this.#reconciler.reconcile(this.#source.current())
    })
  }

  /** What stands in the API now, and whatever else the source says. */
  stand(resources: readonly Resource[], more: Partial<ResourceCache> = {}): this {
    this.#cache = cacheOf(resources, { ...more, version: this.#cache.version + 1 })
    this.#last = this.#reconciler.reconcile(this.#source.current())
    return this
  }

  /** Time goes by; what the source tells meanwhile is reconciled. */
  pass(seconds: number): this {
    this.clock.advance(seconds * 1000)
    return this
  }

  get desired(): DesiredSet {
    if (this.#last === undefined) throw new Error('nothing has been reconciled')
    return this.#last.desired
  }

  /** Namespace whose realm serves the uri. */
  get serving(): string | undefined {
    return this.desired.realms.get(URI)?.namespace
  }

  said(resource: Resource, type: string): string {
    const conditions = this.#book
      .update(this.#last?.results ?? new Map(), [], this.clock.now())
      .get(keyOf(resource))?.conditions
    const found = conditions?.find((condition) => condition.type === type)
    return `${found?.status ?? ''} ${found?.reason ?? ''}: ${found?.message ?? ''}`
  }
}

describe('a Realm that is deleted while a document uses it', () => {
  it('serves for a minute, then is gone; its document stays, and says so', () => {
    const world = new World().stand([realm(), orders()])
    const { record, digest } = world.desired.realms.get(URI) ?? {}
    world.stand([orders()])
    expect(world.desired.realms.get(URI)).toMatchObject({ record, digest })
    expect(world.said(orders(), 'ResolvedRefs')).toMatch(
      /^True ResolvedRefs: .*the Realm of 'com.shop' has been deleted/,
    )
    world.pass(59)
    expect(world.serving).toBe('default')
    world.pass(1)
    expect(world.serving).toBeUndefined()
    expect(world.desired).toMatchObject({ kept: { realms: new Set() } })
    expect(world.desired.documents.has('orders')).toBe(true)
    expect(world.said(orders(), 'ResolvedRefs')).toMatch(
      /^False RealmDeleted: the Realm of 'com.shop'/,
    )
    expect(world.said(orders(), 'Ready')).toMatch(/^False RealmDeleted/)
    expect(world.clock.pending).toBe(0)
  })

  it('serves what was good last, whatever became of it and its Secret before', () => {
    const world = new World().stand([realm(), orders()])
    world.stand([realm({ spec: BROKEN }), orders()]).stand([orders()])
    expect(world.desired.realms.get(URI)?.record).toEqual({ uri: URI })
  })

  it('serves for a minute, too, where it was given another class', () => {
    const world = new World().stand([realm(), orders()])
    const { resources } = cacheOf([realm({ spec: { gatewayClassName: 'other' } })])
    const [leaving] = resources.values()
    if (leaving === undefined) throw new Error('there is no Realm')
    world.stand([leaving, orders()])
    expect(world.serving).toBe('default')
    world.pass(30).stand([orders()])
    expect(world.serving).toBe('default')
    world.pass(30)
    expect(world.serving).toBeUndefined()
  })

  it('never served: nothing is left of it', () => {
    const world = new World().stand([realm({ spec: BROKEN }), orders()]).stand([orders()])
    expect(world.serving).toBeUndefined()
    expect(world.said(orders(), 'ResolvedRefs')).toMatch(/^False RealmNotFound/)
  })

  it('is what a document says that comes after: there is no such realm', () => {
    const world = new World().stand([realm()]).stand([]).pass(60).stand([orders()])
    expect(world.said(orders(), 'ResolvedRefs')).toMatch(/^False RealmNotFound/)
    expect(world.desired.documents.size).toBe(0)
  })

  it('is reported as deleted by an operator that starts later, too', () => {
    const digest = new World().stand([realm(), orders()]).desired.documents.get('orders')?.digest
    const served = orders({ status: { programmedGeneration: 1, programmedDigest: digest } })
    const world = new World().stand([served])
    expect(world.serving).toBeUndefined()
    expect(world.desired.documents.get('orders')?.digest).toBe(digest)
    expect(world.said(served, 'ResolvedRefs')).toMatch(/^False RealmDeleted/)
  })

  it.each<[string, RealmFacts, RegExp]>([
    ['its own namespace', {}, /^False RealmNotFound: Realm default\/shop is not valid itself/],
    [
      'another one',
      { namespace: 'team', spec: { allowedNamespaces: { from: 'All' } } },
      /^False RealmDeleted/,
    ],
  ])(
    'is gone all the same where a Realm of %s stands in its place that never was good',
    (...row) => {
      const [, facts, said] = row
      const first = realm({ ...facts })
      const digest = new World().stand([first, orders()]).desired.documents.get('orders')?.digest
      const served = orders({ status: { programmedGeneration: 1, programmedDigest: digest } })
      const broken = realm({ ...facts, uid: 'uid-again', spec: { ...facts.spec, ...BROKEN } })
      const world = new World().stand([first, served]).stand([broken, served])
      expect(world.said(served, 'ResolvedRefs')).toMatch(/^True .*has been deleted/)
      world.pass(60)
      expect(world.desired).toMatchObject({ realms: new Map(), kept: { realms: new Set() } })
      expect(world.said(served, 'ResolvedRefs')).toMatch(said)
      expect(world.said(served, 'Ready')).toMatch(/^False/)
    },
  )

  it('is not reported as deleted where the document has gone on to another realm', () => {
    const world = new World().stand([realm(), orders()])
    const moved = orders({
      spec: { document: aSpecification('orders', { realm_uri: 'com.nowhere' }) },
    })
    world.stand([moved])
    expect(world.said(moved, 'ResolvedRefs')).toMatch(/^False RealmNotFound/)
  })
})

describe('the uri of a Realm that was deleted a moment ago', () => {
  const own = { name: 'again', uid: 'uid-again', age: 9000 }
  const others = { namespace: 'team', spec: { allowedNamespaces: { from: 'All' } } }

  it.each<[string, RealmFacts]>([
    ['of the same name', { uid: 'uid-again' }],
    ['of another name', own],
  ])('is taken over at once by a Realm of its namespace %s', (_title, again) => {
    const next = realm({ ...again, spec: { description: 'anew' } })
    const world = new World().stand([realm(), orders()]).stand([orders()]).stand([next, orders()])
    expect(world.desired.realms.get(URI)?.record.description).toBe('anew')
    expect(world.said(next, 'Accepted')).toMatch(/^True/)
    expect(world.said(orders(), 'ResolvedRefs')).toBe('True ResolvedRefs: every reference resolves')
    world.pass(60)
    expect(world.desired.realms.get(URI)?.record.description).toBe('anew')
  })

  it.each<[string, readonly Resource[]]>([
    ['between two looks', []],
    ['after a while', [orders()]],
  ])('serves as it was while what comes in its place, %s, is not good', (_title, meanwhile) => {
    const broken = realm({ uid: 'uid-again', spec: BROKEN })
    const world = new World().stand([realm(), orders()])
    if (meanwhile.length > 0) world.stand(meanwhile)
    world.stand([broken, orders()])
    expect(world.serving).toBe('default')
    expect(world.said(broken, 'Accepted')).toMatch(/^True/)
    expect(world.said(broken, 'ResolvedRefs')).toMatch(/^False SecretNotFound/)
    world.pass(60)
    // Nor do data planes keep the deleted one, and its secrets, for the sake of it.
    expect(world.serving).toBeUndefined()
    expect([...world.desired.kept.realms]).toEqual([])
  })

  it.each<[string, number]>([
    ['older', 1],
    ['younger', 9000],
  ])("is no other namespace's, be its Realm %s, before the minute is over", (_title, age) => {
    const rival = realm({ ...others, age })
    const world = new World().stand([realm({ age: 0 }), orders()])
    world.stand([rival, orders()])
    expect(world.serving).toBe('default')
    expect(world.said(rival, 'Accepted')).toMatch(/^False Conflicted/)
    expect(world.said(rival, 'Accepted')).not.toContain('default')
    world.pass(59)
    expect(world.serving).toBe('default')
    world.pass(1)
    expect(world.serving).toBe('team')
    expect(world.said(rival, 'Accepted')).toMatch(/^True/)
  })

  it('is not taken by a Realm of another namespace that served under another uri', () => {
    const settled = realm({ ...others, spec: { ...others.spec, uri: 'com.team' } })
    const world = new World().stand([realm(), settled, orders()])
    const renamed = realm(others)
    world.stand([renamed, orders()])
    expect(world.serving).toBe('default')
    expect(world.desired.realms.get('com.team')?.namespace).toBe('team')
    world.pass(60)
    expect(world.serving).toBe('team')
  })

  it('goes back to its own namespace, also where another one has claimed it before', () => {
    const rival = realm({ ...others, age: 1 })
    const world = new World().stand([realm({ age: 0 }), orders()]).stand([rival, orders()])
    world.stand([rival, realm({ ...own }), orders()])
    expect(world.serving).toBe('default')
    world.pass(60)
    expect(world.serving).toBe('default')
    expect(world.said(rival, 'Accepted')).toMatch(/^False Conflicted/)
  })
})

describe('a Realm that is to be deleted now', () => {
  it.each<[string, RealmFacts, Partial<ResourceCache>]>([
    ['as it was listed last', { annotations: NOW }, {}],
    ['as it was at its end', {}, { deletedNow: new Set(['uid-default-shop']) }],
  ])('is revoked at once: %s', (_title, facts, more) => {
    const world = new World().stand([realm(facts), orders()]).stand([orders()], more)
    expect(world.serving).toBeUndefined()
    expect(world.desired.revokedRealms).toEqual(new Set([URI]))
    expect(world.said(orders(), 'ResolvedRefs')).toMatch(/^False RealmDeleted/)
    world.pass(600)
    expect(world.desired.revokedRealms).toBeUndefined()
  })

  it('is revoked where deleted Realms are to serve no longer at all', () => {
    const world = new World(0).stand([realm(), orders()]).stand([orders()])
    expect(world.desired.revokedRealms).toEqual(new Set([URI]))
  })

  it('ends also what one of the same name before it left behind', () => {
    const world = new World().stand([realm(), orders()]).stand([orders()])
    world.stand([realm({ uid: 'uid-again', annotations: NOW }), orders()]).stand([orders()])
    expect(world.serving).toBeUndefined()
    expect(world.desired.revokedRealms).toEqual(new Set([URI]))
  })

  it('ends also what one of another name before it left behind', () => {
    const world = new World().stand([realm(), orders()]).stand([orders()])
    world.stand([realm({ name: 'again', annotations: NOW }), orders()]).stand([orders()])
    expect(world.serving).toBeUndefined()
    expect(world.desired.revokedRealms).toEqual(new Set([URI]))
  })

  it('is revoked however many others go with it', () => {
    const many = Array.from({ length: 200 }, (_, i) =>
      realm({ name: `r${i}`, spec: { uri: `com.r${i}` }, annotations: NOW }),
    )
    const world = new World().stand(many).stand([])
    expect(world.desired.revokedRealms?.size).toBe(200)
  })

  it('stays revoked where one that is not good comes in its place, until it is good', () => {
    const world = new World().stand([realm({ annotations: NOW }), orders()])
    world.stand([realm({ uid: 'uid-again', spec: BROKEN }), orders()])
    expect(world.desired).toMatchObject({ realms: new Map(), kept: { realms: new Set() } })
    expect(world.desired.revokedRealms).toEqual(new Set([URI]))
    world.stand([realm({ uid: 'uid-again' }), orders()])
    expect(world.serving).toBe('default')
    expect(world.desired.revokedRealms).toBeUndefined()
  })

  it('ends what one before it left behind also where it never was good itself', () => {
    const again = realm({ uid: 'uid-again', spec: BROKEN, annotations: NOW })
    const world = new World().stand([realm(), orders()]).stand([again, orders()])
    expect(world.serving).toBe('default')
    world.stand([orders()])
    expect(world.serving).toBeUndefined()
    expect(world.desired.revokedRealms).toEqual(new Set([URI]))
  })

  it('revokes nothing of another Realm whose uri it only named', () => {
    const rival = realm({ namespace: 'team', age: 9000, annotations: NOW })
    const world = new World().stand([realm(), rival, orders()]).stand([realm(), orders()])
    expect(world.serving).toBe('default')
    const held = realm({ spec: BROKEN })
    const restarted = new World().stand([held, rival, orders()]).stand([held, orders()])
    expect([...restarted.desired.kept.realms]).toEqual([URI])
    expect(restarted.desired.revokedRealms).toBeUndefined()
  })
})

it('a clock that is set back gives a deleted Realm no more time', () => {
  const clock = createManualClock()
  let offsetMs = 0
  let cache = cacheOf([realm(), realm({ name: 'later', spec: { uri: 'com.later' } })])
  let changes = 0
  const source = new SourceWithDeletedRealms(
    standingSource(() => cache),
    { clock: { ...clock, now: () => clock.now() + offsetMs }, servedMs: 60_000 },
  )
  void source.start(() => {
    changes += 1
  })
  const deletedRealms = (): number => source.current().deletedRealms?.size ?? 0
  source.current()
  cache = cacheOf([realm({ name: 'later', spec: { uri: 'com.later' } })])
  expect(deletedRealms()).toBe(1)
  clock.advance(30_000)
  cache = cacheOf([])
  expect(deletedRealms()).toBe(2)
  offsetMs = -3_600_000
  clock.advance(30_000)
  expect(deletedRealms()).toBe(1)
  clock.advance(30_000)
  expect([deletedRealms(), changes]).toEqual([0, 2])
})

it('Realms that come and go all day are forgotten: of a namespace the last 500 serve on', () => {
  const crowd = Array.from({ length: 505 }, (_, i) =>
    realm({ name: `r${i}`, spec: { uri: `com.r${i}` } }),
  )
  const world = new World().stand([...crowd, realm({ namespace: 'team' })]).stand([])
  expect(world.desired.realms.size).toBe(501)
  expect(world.serving).toBe('team')
  world.pass(60)
  expect(world.desired.realms.size).toBe(0)
})

it('Realms that are deleted together are looked at once, not once for each', () => {
  const clock = createManualClock()
  let timers = 0
  const after = (ms: number, callback: () => void): (() => void) => {
    timers += 1
    return clock.after(ms, callback)
  }
  const all = Array.from({ length: 40 }, (_, i) =>
    realm({ name: `r${i}`, namespace: `n${i % 4}`, spec: { uri: `com.r${i}` } }),
  )
  let cache = cacheOf(all)
  const source = new SourceWithDeletedRealms(
    standingSource(() => cache),
    { clock: { ...clock, after }, servedMs: 60_000 },
  )
  source.current()
  cache = cacheOf([])
  expect(source.current().deletedRealms?.size).toBe(40)
  expect(timers).toBe(1)
})

describe('a Realm that came in the place of a deleted one', () => {
  it.each(['shop', 'again'])('serves on where it is not valid any more: %s', (name) => {
    const serving = (world: World): unknown => world.desired.realms.get(URI)?.record.groups
    const again = (spec: object): Resource =>
      realm({ name, uid: 'uid-again', age: 9000, spec: { groups: ['new'], ...spec } })
    const world = new World().stand([realm({ spec: { groups: ['old'] } }), orders()])
    world.stand([orders()])
    expect(serving(world)).toEqual(['old'])
    world.stand([again({}), orders()])
    expect(serving(world)).toEqual(['new'])
    world.stand([again(BROKEN), orders()])
    // Users and rights of the one before were taken back with it.
    expect(serving(world)).toEqual(['new'])
    world.pass(60)
    expect(serving(world)).toEqual(['new'])
  })
})

it('a document says that its Realm was deleted once no other one has its uri', () => {
  const world = new World().stand([realm(), orders()])
  const digest = world.desired.documents.get('orders')?.digest
  const served = orders({ status: { programmedGeneration: 1, programmedDigest: digest } })
  const rival = realm({ namespace: 'team', age: 9000, spec: BROKEN })
  world.stand([realm(), rival, served]).stand([rival, served]).pass(60)
  world.stand([served])
  expect(world.said(served, 'ResolvedRefs')).toMatch(/^False RealmDeleted/)
})
