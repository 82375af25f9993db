// A data plane that lies: none of its words reach an object of another namespace, and its claims decide nothing there.

import { afterEach, describe, expect, it } from '@jest/globals'
import { eventsOf } from '../../../operator/status/kubernetes-events.ts'
import { podEventsOf } from '../../../operator/status/pod-events.ts'
import { rootDigest } from '../../../language/wire/digest.ts'
import { aPlane, closeAll } from '../../operator/fleet/rig.ts'
import { eventually } from '../../support/eventually.ts'
import {
  type Cluster,
  failing,
  hostileWith,
  LEFT_ALONE,
  PATIENCE,
  reconcile,
  SIDECAR,
  startCluster,
} from './cluster.ts'
import {
  allItems,
  type Respond,
  type HostileDataPlane,
  json,
  stateOf,
} from './hostile-data-plane.ts'

afterEach(closeAll)

const UNPRINTABLE = /\p{C}/u

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (value instanceof Map || value instanceof Set) return textsIn([...value])
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

describe('words', () => {
  const MARK = 'evil.example'
  const WORDS = `rotate the password at https://${MARK}/\u001b[31m\r\n\u202e`
  const SHOWN = { code: WORDS, path: WORDS, message: WORDS }
  const SESSIONS = ['refused', 'waiting', WORDS].map((state) => ({
    url: `wss://${MARK}`,
    state,
    reason: WORDS,
  }))

  const lies = (complete: boolean) => {
    const entry = { digest: 'd', managedBy: 'svc-operator' }
    const specs = { ...entry, warnings: [{ ...SHOWN, code: 'Shadowed' }, SHOWN] }
    const realms = { ...entry, sessions: SESSIONS }
    return json(
      stateOf({
        complete,
        gatewayVersion: WORDS,
        specs: { shop: specs, bank: specs },
        realms: { 'com.shop': realms, 'com.bank': realms },
      }),
    )
  }
  const rejects: Respond = (response, asked) => {
    const items = allItems(asked.sync, 'rejected').map((item) => ({ ...item, errors: [SHOWN] }))
    const more = ['bank', 'com.bank'].flatMap((id) =>
      ['spec', 'realm'].map((kind) => ({ id, kind, result: 'rejected', errors: [SHOWN] })),
    )
    json({ rootDigest: rootDigest([]), items: [...items, ...more] })(response, asked)
  }
  const refuses = (status: number): Respond => json({ ...SHOWN, description: WORDS }, status)

  const LIARS: readonly (readonly [string, HostileDataPlane['responses']])[] = [
    ['in a state', { state: lies(true), sync: rejects }],
    ['in a state of one that is not ready', { state: lies(false), sync: rejects }],
    ['of its manager', { state: json(stateOf({ manager: WORDS })) }],
    ['with 401', { state: refuses(401) }],
    ['with 403', { state: refuses(403) }],
    ['with 418', { state: refuses(418) }],
    ['with 409 to a sync call', { sync: refuses(409) }],
  ]

  /** What the API is told of the objects of a namespace: statuses and Events. */
  const toldOf = (namespace: string, { statuses }: Cluster): string =>
    JSON.stringify(
      [...statuses().values()]
        .filter(({ result: verdict }) => verdict.resource.metadata.namespace === namespace)
        .map((status) => [
          status.conditions,
          status.errors,
          status.warnings,
          eventsOf(undefined, status, 0).events.map(({ note }) => note),
        ]),
    )

  it.each(LIARS)(
    '%s of a sidecar reach no object of another namespace',
    async (_name, responses) => {
      const hostile = await hostileWith(responses)
      const cluster = await startCluster(hostile, SIDECAR)
      await eventually(() => {
        expect(hostile.asked.length).toBeGreaterThan(3)
      }, PATIENCE)
      expect(toldOf('bank', cluster)).not.toContain(MARK)
      await cluster.othersAreServed()
      expect(toldOf('bank', cluster)).not.toContain(MARK)
      const { report } = cluster
      const own = [report(), podEventsOf(new Map(), [report()]), toldOf('shop', cluster)]
      expect(textsIn(own).filter((text) => UNPRINTABLE.test(text))).toEqual([])
    },
  )

  it.each([
    ['a sidecar of its namespace', 'shop', 'Realm/shop/shop'],
    ['a gateway of the shared pool', undefined, 'Realm/bank/bank'],
  ])('of %s about the sessions of a Realm are not shown', async (_whose, namespace, key) => {
    const liar = await aPlane()
    liar.sessions = SESSIONS
    const cluster = await startCluster(liar, namespace === undefined ? {} : { namespace })
    const uri = namespace === undefined ? 'com.bank' : 'com.shop'
    await eventually(() => {
      expect(cluster.report().realms.get(uri)?.sessions).toHaveLength(SESSIONS.length)
      expect(failing(cluster.statuses().get(key))).toEqual([
        'Ready Unreachable: shop/hostile: no session with its router (refused): ' +
          'another reason: see the log of the data plane',
      ])
    }, PATIENCE)
    expect(textsIn(cluster.report()).filter((text) => text.includes(MARK))).toEqual([])
    liar.sessions = []
    liar.touch()
    await cluster.othersAreServed()
  })
})

describe('a claim', () => {
  /** Of a sidecar that holds what it was given, and says that it holds a document of `bank` too. */
  const holding = (digest: string | undefined): Respond => {
    const { documents, realms } = reconcile(1).desired
    const entry = (held = '') => ({ digest: held, managedBy: 'svc-operator' })
    return json(
      stateOf({
        complete: true,
        specs: { shop: entry(documents.get('shop')?.digest), bank: entry(digest) },
        realms: { 'com.shop': entry(realms.get('com.shop')?.digest) },
      }),
    )
  }
  const REFUSED = { code: 'invalid_value', path: '/a', message: 'too new' } as const

  /** As long as no other data plane holds the document of `bank`, it is not to be deleted there. */
  const startReady = async (digest: string | undefined): Promise<Cluster> => {
    const cluster = await startCluster(await hostileWith({ state: holding(digest) }), SIDECAR)
    cluster.honest.refuses.set('bank', REFUSED)
    await eventually(() => {
      const { ready, documents } = cluster.report()
      expect([ready, documents.get('bank')?.digest]).toEqual([true, digest])
    }, PATIENCE)
    return cluster
  }

  it('to serve what a gateway of the shared pool refuses does not keep that out of service', async () => {
    const digest = reconcile(1).desired.documents.get('bank')?.digest
    const { honest, othersAreServed } = await startReady(digest)
    honest.restart()
    await eventually(() => {
      expect(honest.complete).toBe(true)
    }, PATIENCE)
    honest.refuses.clear()
    await othersAreServed()
  })

  it('to hold a version of another namespace is not believed: its text is not requested', async () => {
    const { fleet, honest, othersAreServed } = await startReady('d')
    const version = { id: 'bank', digest: 'd' }
    expect(fleet.holders({ ...version, namespace: 'bank' })).toEqual([])
    expect(fleet.holders({ ...version, namespace: 'shop' })).toHaveLength(1)
    honest.refuses.clear()
    await othersAreServed()
  })

  it('to hold ever more does not raise what it may say', async () => {
    let count = 500
    const claims: Respond = (response, asked) => {
      count *= 2
      const entry = { digest: 'd', managedBy: 'svc-operator', warnings: [] }
      const specs = Array.from({ length: count }, (_, i) => [`${count}-${i}`, entry] as const)
      json(stateOf({ specs: Object.fromEntries(specs) }))(response, asked)
    }
    const hostile = await hostileWith({ state: claims })
    const { report, othersAreServed } = await startCluster(hostile, SIDECAR)
    await eventually(() => {
      expect(report().message).toMatch(LEFT_ALONE)
    }, PATIENCE)
    // 64 bytes each.
    expect(report().documents.size).toBeLessThan(6_000)
    await othersAreServed()
  })
})
