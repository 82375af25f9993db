// Pods that do not do what pods should: none of them is in another's way, and whose fault it is can be read.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import type { Problem } from '../../../language/problem.ts'
import { readVersion } from '../../../telemetry/version.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import {
  aDocument,
  aRealm,
  reasonsSince,
  resourceVersionOf,
} from '../../support/kubernetes/odd-documents.ts'
import { startOlderGateway } from '../../support/kubernetes/odd-older-gateway.ts'
import { notesOf, podPages, untilPhase } from '../../support/kubernetes/odd-pages.ts'
import { type OddPod, type OddPodOptions, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(120_000)

const PROBLEM: Problem = { code: 'invalid_value', path: '/versions/v1', message: 'not to my taste' }

/** Of this program's version. */
const nextMinor = (): string => {
  const [major = 0, minor = 0] = readVersion().split('.').map(Number)
  return `${major}.${minor + 1}.0`
}

/** One operator; each test has pods and documents of its own, by a label. */
await describeWithKubernetes('an odd pod', (plane) => {
  let home: Home
  let operator: OperatorProcess

  const group = (name: string) => ({
    labels: { group: name },
    odd: (pod: Omit<OddPodOptions, 'labels'>): Promise<OddPod> =>
      startOddPod(plane(), { ...pod, labels: { group: name } }),
    apply: (id: string, body: unknown): Promise<void> =>
      plane().apply([aDocument(id, body, { labels: { group: name } })]),
  })

  /** What it holds is what was applied last, and it was told that this is all. */
  const holds = ({ fake, digest }: OddPod, id: string, wanted: string | undefined): void => {
    expect({ complete: fake.complete, digest: digest(id) }).toEqual({
      complete: true,
      digest: wanted ?? 'none is programmed',
    })
  }

  /** Since so many calls it was asked what it holds by somebody who knew nothing of it. */
  const hasAskedAfresh = ({ fake }: OddPod, known: number): boolean =>
    fake.calls
      .slice(known)
      .some(({ sync, headers }) => sync === undefined && headers['if-none-match'] === undefined)

  const programmedDigest = async (id: string): Promise<string | undefined> =>
    (await home.status('apispecifications', 'shop', id)).programmedDigest

  /** As `kubectl describe pod` shows them. */
  const podEvents = async (pod: string): Promise<readonly (readonly unknown[])[]> => {
    const path = `/apis/events.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/events`
    const { items } = demand(await plane().request({ path })).json() as {
      readonly items: readonly {
        readonly reason: string
        readonly note: string
        readonly regarding: { readonly kind: string; readonly name: string; readonly uid: string }
      }[]
    }
    return items.flatMap(({ reason, note, regarding: { kind, name, uid } }) =>
      kind === 'Pod' && name === pod ? [[reason, uid, note]] : [],
    )
  }

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = await Home.open(plane())
    operator = await home.startOperator()
    await plane().apply([aRealm()])
  }, 120_000)

  afterAll(async () => {
    await home[Symbol.asyncDispose]()
  }, 120_000)

  it('hangs: others go on, and it counts no more when its time is over', async () => {
    const { odd, apply } = group('hung')
    await using well = await odd({ name: 'well' })
    await using hung = await odd({ name: 'hung' })
    await apply('hanging', 'one')
    await home.until('shop', 'hanging', 'Programmed', 'Programmed')
    const first = well.digest('hanging')
    const before = await resourceVersionOf(plane(), 'hanging')
    hung.fake.isHanging = true
    await apply('hanging', 'two')
    await eventually(() => {
      expect(well.digest('hanging')).not.toBe(first)
    }, PATIENCE)
    const { message } = await untilPhase(operator, hung.name, 'unreachable')
    expect(message).toMatch(/answer/)
    await eventually(async () => {
      expect(await programmedDigest('hanging')).toBe(well.digest('hanging'))
    }, PATIENCE)
    await home.until('shop', 'hanging', 'Programmed', 'Programmed')
    // While it was not known that it hangs, it was one that is ready and holds the old.
    const reasons = await reasonsSince(plane(), before, { name: 'hanging', type: 'Programmed' })
    expect(reasons).toContain('2 PartiallyProgrammed')
    hung.fake.isHanging = false
    await eventually(() => {
      expect(hung.digest('hanging')).toBe(well.digest('hanging'))
    }, PATIENCE)
  })

  it('refuses a document: it is named, and is not called again; a new one like it stays out', async () => {
    const { odd, apply } = group('refusing')
    const refuse = ({ fake }: Pick<OddPod, 'fake'>): unknown => fake.refuses.set('refused', PROBLEM)
    await using well = await odd({ name: 'taking' })
    await using picky = await odd({ name: 'picky' })
    await apply('refused', 'one')
    await apply('bystander', 'one')
    await home.until('shop', 'refused', 'Programmed', 'Programmed')
    const first = picky.digest('refused')
    refuse(picky)
    await apply('refused', 'two')
    // Until picky has answered it is one that still holds the old.
    await eventually(async () => {
      const { message } = await home.until('shop', 'refused', 'Programmed', 'PartiallyProgrammed')
      expect(message).toBe(
        `rejected by ${picky.name}: /versions/v1: not to my taste; generation 1 still serves`,
      )
      const { errors } = await home.status('apispecifications', 'shop', 'refused')
      expect(errors).toMatchObject([{ path: '/spec/document/versions/v1' }])
    }, PATIENCE)
    const { stdout } = await plane().kubectl(['get', 'apispec', 'refused', '-n', 'shop'])
    expect(stdout).toContain('PartiallyProgrammed')
    expect(picky.digest('refused')).toBe(first)
    const puts = picky.putsOf('refused')

    await using fresh = await odd({
      name: 'fresh',
      prepare: (fake) => fake.refuses.set('refused', PROBLEM),
    })
    const page = await untilPhase(operator, fresh.name, 'withheld')
    expect(page).toMatchObject({ ready: false, message: expect.stringContaining('refused') })
    expect(fresh.fake.complete).toBe(false)
    await eventually(async () => {
      expect(await podEvents('fresh')).toEqual([
        [
          'Withheld',
          fresh.pod.uid,
          expect.stringMatching(/^it rejects .*Give it the version .*: /),
        ],
      ])
    }, PATIENCE)
    expect(String((await podEvents('fresh')).flat()[2])).toContain(
      'refused (/versions/v1: not to my taste)',
    )
    // It is kept out, but not left behind in what it takes.
    await apply('bystander', 'two')
    await home.until('shop', 'bystander', 'Programmed', 'Programmed')
    await eventually(() => {
      expect(fresh.digest('bystander')).toBe(well.digest('bystander'))
    }, PATIENCE)
    expect(picky.putsOf('refused')).toBe(puts)
    expect(fresh.fake.complete).toBe(false)
    // However often it is asked, it is told of once; and one that is in service not at all.
    expect(await podEvents('fresh')).toHaveLength(1)
    expect(await podEvents('picky')).toEqual([])

    // Other processes, which think otherwise: what was refused is tried again.
    for (const { fake, pod } of [picky, fresh]) {
      fake.refuses.clear()
      fake.restart()
      await pod.restartContainer()
    }
    await home.until('shop', 'refused', 'Programmed', 'Programmed')
    await eventually(() => {
      expect(fresh.fake.complete).toBe(true)
      expect(fresh.digest('refused')).toBe(well.digest('refused'))
    }, PATIENCE)
  })

  it('refuses, and there is no other: Rejected, and nothing changes until somebody acts', async () => {
    const { odd, apply } = group('alone')
    await using alone = await odd({
      name: 'alone',
      prepare: (fake) => fake.refuses.set('rejected', PROBLEM),
    })
    await apply('rejected', 'one')
    await home.until('shop', 'rejected', 'Programmed', 'Rejected')
    await home.until('shop', 'rejected', 'Stalled', 'Rejected')
    // What no data plane serves does not keep a data plane out of service.
    expect(alone.fake.complete).toBe(true)
    alone.fake.refuses.clear()
    await apply('rejected', 'two')
    await home.until('shop', 'rejected', 'Ready', 'Ready')
  })

  it('restarts in place: all is pushed again, as soon as the Pod says so', async () => {
    const { odd, apply } = group('restarting')
    await using again = await odd({ name: 'again' })
    await apply('restarted', 'one')
    await home.until('shop', 'restarted', 'Programmed', 'Programmed')
    await home.until('shop', 'restarted', 'Ready', 'Ready')
    const digest = await programmedDigest('restarted')
    const before = await resourceVersionOf(plane(), 'restarted')
    const known = again.fake.calls.length
    again.fake.restart()
    await again.pod.restartContainer()
    await eventually(() => {
      holds(again, 'restarted', digest)
      // What was known of it went with the container: no poll has asked since whether something has changed. A poll that
      // fell due before the Pod said so did, and may have filled it.
      expect(hasAskedAfresh(again, known)).toBe(true)
    }, PATIENCE)

    // Nothing reports this one but the data plane itself, when it is asked the next time.
    again.fake.restart()
    await eventually(() => {
      holds(again, 'restarted', digest)
    }, PATIENCE)
    expect(await resourceVersionOf(plane(), 'restarted')).toBe(before)
  })

  it('restarts in place, as a real gateway: it serves again what it served', async () => {
    const { labels, apply } = group('real')
    const address = `127.0.1.200:${await freePort()}`
    const flags = ['--management', address, '--health', '127.0.1.200:0']
    const start = () => startGateway({ flags: [...flags, '--managed', 'svc-operator'] })
    const serves = async (url: string): Promise<void> => {
      await eventually(async () => {
        const { status, text } = await request(`${url}/real/x`, { headers: { host: 'shop.test' } })
        expect({ status, text }).toEqual({ status: 200, text: '"one"' })
      }, PATIENCE)
    }
    const gateway = await start()
    const pod = await plane().fakePod({
      namespace: OPERATOR_NAMESPACE,
      name: 'real',
      ip: '127.0.1.200',
      ports: { management: Number(address.split(':')[1]) },
      labels: { 'gateway.svc.dev/data-plane': 'shared', ...labels },
    })
    try {
      await apply('real', 'one')
      await serves(gateway.public)
      await gateway.kill()
      await using second = await start()
      await pod.restartContainer()
      await serves(second.public)
      // It is told that this is all in a call of its own.
      await eventually(async () => {
        expect((await request(`${String(second.listening['health'])}/ready`)).status).toBe(204)
      }, PATIENCE)
    } finally {
      await gateway[Symbol.asyncDispose]()
      await pod.delete()
    }
  })

  it('holds another version, an unknown one, and one that is not desired: corrected', async () => {
    const { labels, apply } = group('drifting')
    const { gateway, get, remove } = await home.startGatewayPod({ name: 'drifting', labels })
    await apply('drift', 'one')
    await apply('drift-too', 'one')
    for (const id of ['drift', 'drift-too']) await home.until('shop', id, 'Ready', 'Ready')
    const before = await resourceVersionOf(plane(), 'drift')
    const inLine = await stateOf(gateway.management)
    const { epoch } = inLine
    // It stands still for a moment, which costs it no turn: else it might mend before anybody has looked.
    operator.signal('SIGSTOP')
    try {
      // Another program with our credentials may do as we do.
      const spoil = await request(`${gateway.management}/api_specs/_sync`, {
        method: 'POST',
        json: {
          managedBy: 'svc-operator',
          epoch,
          base: inLine.rootDigest,
          specs: {
            put: [
              aPut('drift', { digest: `sha256:${'0'.repeat(64)}`, body: 'spoiled' }),
              aPut('stray', { digest: 'what is this', body: 'stray' }),
            ],
            delete: ['drift-too'],
          },
        },
      })
      expect({ status: spoil.status, text: spoil.text }).toMatchObject({ status: 200 })
      expect((await get('shop.test', '/drift/x')).text).toBe('"spoiled"')
    } finally {
      operator.signal('SIGCONT')
    }
    await eventually(async () => {
      const { rootDigest, specs } = await stateOf(gateway.management)
      expect({ rootDigest, ids: Object.keys(specs).sort() }).toEqual({
        rootDigest: inLine.rootDigest,
        ids: ['drift', 'drift-too'],
      })
    }, PATIENCE)
    expect((await get('shop.test', '/drift/x')).text).toBe('"one"')
    expect((await get('shop.test', '/stray/x')).status).toBe(404)
    // Mended before it counted: a latched condition bears it for 30 s.
    expect(await resourceVersionOf(plane(), 'drift')).toBe(before)
    await remove()
  })

  it.each([
    ['another major one', '77.0.0', /^its version is 77\.0\.0, .*neighbouring minor versions/],
    ['the next one', nextMinor(), /^its version is [\d.]+, that of this operator [\d.]+$/],
  ])('is of another version: %s', async (_, version, words) => {
    const name = `version-${version}`.replaceAll('.', '-')
    const { odd, apply } = group(name)
    await using other = await odd({
      name,
      prepare: (fake) => {
        fake.gatewayVersion = version
      },
    })
    await apply(name, 'one')
    await home.until('shop', name, 'Programmed', 'Programmed')
    const { message, version: told } = await untilPhase(operator, other.name, 'synced')
    expect(message).toMatch(words)
    expect(told).toBe(version)
  })

  it('is of the version before, and says less: it is served all the same', async () => {
    const { labels, apply } = group('older')
    await using gateway = await startGateway({ flags: ['--managed', 'svc-operator'] })
    await using older = await startOlderGateway(gateway.management)
    const pod = await plane().fakePod({
      namespace: OPERATOR_NAMESPACE,
      name: 'older',
      ip: '127.0.0.1',
      ports: { management: older.port },
      labels: { 'gateway.svc.dev/data-plane': 'shared', ...labels },
    })
    const served = async (): Promise<number> =>
      (await request(`${gateway.public}/older/x`, { headers: { host: 'shop.test' } })).status
    await apply('older', 'one')
    await home.until('shop', 'older', 'Ready', 'Ready')
    expect(await served()).toBe(200)
    const page = await untilPhase(operator, `${OPERATOR_NAMESPACE}/older`, 'synced')
    expect(page).toMatchObject({ ready: true, message: '' })
    expect(page).not.toHaveProperty('version')
    await plane().kubectl(['delete', 'apispec', '-n', 'shop', 'older'])
    await eventually(async () => {
      expect(await served()).toBe(404)
    }, PATIENCE)
    await pod.delete()
  })

  it('holds documents loaded by hand: they stay, until a resource has their id', async () => {
    const { labels, apply } = group('by-hand')
    const { gateway, get, isReady, remove } = await home.startGatewayPod({
      name: 'by-hand',
      labels,
      flags: ['--allow-unmanaged'],
    })
    await loadUnmanaged(gateway, 'hand')
    await apply('by-operator', 'operator')
    await home.until('shop', 'by-operator', 'Programmed', 'Programmed')
    expect(await isReady()).toBe(true)
    expect((await get('shop.test', '/hand/x')).text).toBe('"by hand"')
    await plane().kubectl(['delete', 'apispec', '-n', 'shop', 'by-operator'])
    await eventually(async () => {
      expect((await get('shop.test', '/by-operator/x')).status).toBe(404)
    }, PATIENCE)
    expect((await get('shop.test', '/hand/x')).text).toBe('"by hand"')
    await apply('hand', 'adopted')
    await home.until('shop', 'hand', 'Programmed', 'Programmed')
    expect((await get('shop.test', '/hand/x')).text).toBe('"adopted"')
    expect((await stateOf(gateway.management)).specs['hand']?.managedBy).toBe('svc-operator')
    await remove()
  })

  it('is managed under another name: nothing is sent to it', async () => {
    const { labels, odd, apply } = group('owned')
    const other = await home.startGatewayPod({
      name: 'theirs',
      labels,
      flags: ['--managed', 'somebody'],
    })
    const name = `${OPERATOR_NAMESPACE}/theirs`
    await apply('owned', 'one')
    const { message } = await home.until('shop', 'owned', 'Programmed', 'Unreachable')
    expect(message).toContain(`${name}: it is managed by 'somebody'`)
    await using ours = await odd({ name: 'ours' })
    await home.until('shop', 'owned', 'Programmed', 'Programmed')
    expect(ours.digest('owned')).toBe(await programmedDigest('owned'))
    await untilPhase(operator, name, 'not_owner')
    expect(await stateOf(other.gateway.management)).toMatchObject({ epoch: 0, specs: {} })
    expect((await other.get('shop.test', '/owned/x')).status).toBe(503)
    await other.remove()
  })

  it('has no port named management: that is reported, until it is gone', async () => {
    const { apply, odd } = group('portless')
    const pod = await plane().fakePod({
      namespace: OPERATOR_NAMESPACE,
      name: 'portless',
      ip: '127.0.1.201',
      ports: { http: 18080 },
      labels: { 'gateway.svc.dev/data-plane': 'shared', group: 'portless' },
    })
    const words = `Pod ${OPERATOR_NAMESPACE}/portless has no containerPort named management`
    await eventually(async () => {
      expect((await notesOf(operator)).join()).toContain(words)
    }, PATIENCE)
    await using beside = await odd({ name: 'beside-portless' })
    await apply('beside', 'one')
    await home.until('shop', 'beside', 'Programmed', 'Programmed')
    expect(beside.fake.complete).toBe(true)
    expect((await podPages(operator)).has(`${OPERATOR_NAMESPACE}/portless`)).toBe(false)
    await pod.delete()
    await eventually(async () => {
      expect((await notesOf(operator)).join()).not.toContain(words)
    }, PATIENCE)
  })

  it('is a sidecar: it gets what its namespace has for it, and its own restart is seen', async () => {
    await makeNamespace(plane(), 'pets')
    const labels = { app: 'cats' }
    const { gateway, get, remove } = await home.startGatewayPod({
      namespace: 'pets',
      name: 'cats',
      labels,
      sidecar: true,
    })
    await using odd = await startOddPod(plane(), {
      namespace: 'pets',
      name: 'odd-cats',
      labels,
      sidecar: true,
    })
    await plane().apply([
      aRealm('pets', 'com.pets'),
      aDocument('cats', 'meow', { namespace: 'pets', realmUri: 'com.pets', labels }),
      aDocument('not-for-cats', 'woof', {
        namespace: 'pets',
        realmUri: 'com.pets',
        labels: { app: 'dogs' },
      }),
      aDocument('shop-for-cats', 'food', { labels }),
    ])
    await home.until('pets', 'cats', 'Programmed', 'Programmed')
    await home.until('shop', 'shop-for-cats', 'Programmed', 'NoDataPlanes')
    await home.until('pets', 'not-for-cats', 'Programmed', 'NoDataPlanes')
    // The other Pod may have been known first: all that are known serve it.
    await eventually(async () => {
      expect((await get('pets.test', '/cats/x')).text).toBe('"meow"')
    }, PATIENCE)
    expect(Object.keys((await stateOf(gateway.management)).specs)).toEqual(['cats'])
    await eventually(() => {
      expect([...odd.fake.specs.keys()]).toEqual(['cats'])
    }, PATIENCE)
    odd.fake.restart()
    const known = odd.fake.calls.length
    await odd.pod.restartContainer()
    await eventually(() => {
      expect([...odd.fake.specs.keys()]).toEqual(['cats'])
      expect(hasAskedAfresh(odd, known)).toBe(true)
    }, PATIENCE)
    await remove()
  })

  it('is new, and the newest generation is bad: it gets the last good one', async () => {
    const { odd, apply } = group('late')
    await using early = await odd({ name: 'early' })
    await apply('late', 'good')
    await home.until('shop', 'late', 'Programmed', 'Programmed')
    const good = await programmedDigest('late')
    await apply('late', '{{nope}}')
    const { message } = await home.until('shop', 'late', 'Programmed', 'Invalid')
    expect(message).toContain('generation 1 still serves')
    await using second = await odd({ name: 'second' })
    await eventually(() => {
      holds(second, 'late', good)
    }, PATIENCE)

    // Another operator has never seen the good one: it asks who holds it.
    await operator.stop()
    operator = await home.startOperator()
    await using third = await odd({ name: 'third' })
    await eventually(() => {
      holds(third, 'late', good)
    }, PATIENCE)
    expect(third.fake.sources.get('late')).toEqual(early.fake.sources.get('late'))
    const recovered = [early, second].flatMap(({ fake }) => fake.calls.map(({ path }) => path))
    expect(recovered).toContain('/api_specs/late?view=source')
    for (const { deletes } of [early, second, third]) expect(deletes()).toEqual([])
    await apply('late', 'better')
    await home.until('shop', 'late', 'Ready', 'Ready')
    expect(third.digest('late')).not.toBe(good)
  })
})

interface State {
  readonly epoch: number
  readonly rootDigest: string
  readonly specs: Readonly<Record<string, { readonly managedBy: string | null }>>
}

const stateOf = async (management: string): Promise<State> =>
  (await request(`${management}/api_specs?view=state`)).json() as State

const documentAlone = (id: string, body: string, realmUri = 'com.shop'): object => {
  const { spec } = aDocument(id, body, { realmUri }) as {
    readonly spec: { readonly document: object }
  }
  return spec.document
}

const aPut = (id: string, { digest, body }: { digest: string; body: string }): object => ({
  id,
  digest,
  since: 1,
  spec: documentAlone(id, body),
})

/** A document that says `by hand`, with a realm of its own. */
const loadUnmanaged = async ({ management }: GatewayPod['gateway'], id: string): Promise<void> => {
  const loads = [
    { path: '/realms', json: { uri: 'com.hand' } },
    { path: '/api_specs', json: documentAlone(id, 'by hand', 'com.hand') },
  ]
  for (const { path, json } of loads) {
    const { status, text } = await request(`${management}${path}`, { method: 'POST', json })
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
  }
}
