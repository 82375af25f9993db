// An operator is killed at any point of a sync, and another one goes on: in the end every data plane holds what the
// resources say, at no time was a document without a home that stands, and nothing was sent twice.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { type GatewayPod, Home } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'
import { A_LEASE_LATER, releaseLease, untilLeading } from './turns.ts'

jest.setTimeout(180_000)

const SPECIFICATIONS = '/apis/gateway.svc.dev/v1alpha1/namespaces/shop/apispecifications'
const GROUPS = ['one', 'two'] as const
type Group = (typeof GROUPS)[number]
type Place = Group | 'both'

interface Wanted {
  readonly response: string
  readonly place: Place
  /** Whether it has the path that goes from document to document. */
  readonly hasMoving: boolean
}

type Model = ReadonlyMap<string, Wanted>

interface Batch {
  readonly model: Model
  readonly changed: ReadonlySet<string>
  readonly deleted: string
}

/** The same numbers in every run, so that a batch that fails fails again. */
const numbersOf = (seed: number): ((below: number) => number) => {
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

const isIn = (group: Group, { place }: Wanted): boolean => place === group || place === 'both'

const SHARING = ['sharing-1', 'sharing-2'] as const

const FIRST: Model = new Map<string, Wanted>([
  ...Array.from({ length: 9 }, (_, index): [string, Wanted] => [
    `first-${index}`,
    {
      response: '0',
      place: (['one', 'two', 'both'] as const)[index % 3] ?? 'both',
      hasMoving: false,
    },
  ]),
  [SHARING[0], { response: '0', place: 'both', hasMoving: true }],
  [SHARING[1], { response: '0', place: 'both', hasMoving: false }],
])

/** One is new, three change, one goes, one moves to other data planes, and a path goes to the other document. */
const nextBatch = (before: Model, seed: number, below: (count: number) => number): Batch => {
  const model = new Map(before)
  const names = [...before.keys()].filter((name) => !name.startsWith('sharing'))
  const draw = (): string => names.splice(below(names.length), 1)[0] ?? ''
  const changed = new Set<string>()
  const change = (name: string, more: Partial<Wanted>): void => {
    const known = model.get(name) ?? { response: '', place: 'both', hasMoving: false }
    model.set(name, { ...known, ...more })
    changed.add(name)
  }
  const deleted = draw()
  model.delete(deleted)
  const moved = draw()
  const places = (['one', 'two', 'both'] as const).filter(
    (each) => each !== before.get(moved)?.place,
  )
  const place = places[below(places.length)] ?? 'both'
  change(moved, { place })
  for (const name of [draw(), draw(), draw()]) change(name, { response: `${seed}` })
  change(`new-${seed}`, { response: `${seed}`, place: GROUPS[below(2)] ?? 'one' })
  for (const name of SHARING) change(name, { hasMoving: before.get(name)?.hasMoving !== true })
  return { model, changed, deleted }
}

const objectOf = (name: string, { response, place, hasMoving }: Wanted): object => {
  const isSharing = name.startsWith('sharing')
  return documentObject('shop', name, {
    basePath: isSharing ? '/sharing' : `/${name}`,
    paths: { [`/${name}`]: response, ...(hasMoving && { '/moving': name }) },
    spec: {
      ...(place !== 'both' && { dataPlaneSelector: { matchLabels: { group: place } } }),
    },
  })
}

interface Listed {
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status: {
    readonly observedGeneration?: number
    readonly programmedDigest?: string
    readonly conditions: readonly { readonly type: string; readonly status: string }[]
  }
}

await describeWithKubernetes('an operator that is killed', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  let odds: Record<Group, OddPod>
  let operator: OperatorProcess
  let model = FIRST
  /** Documents that stood before the batch and stand after it. */
  let standing: ReadonlySet<string> = new Set()
  const homeless: string[] = []
  let onMoment: () => Promise<void> = () => Promise.resolve()

  const look = (): void => {
    for (const name of standing) {
      if (GROUPS.every((group) => odds[group].digest(name) === undefined)) homeless.push(name)
    }
  }

  const applyModel = (names: Iterable<string>): Promise<void> =>
    plane().apply(
      [...names].flatMap((name) => {
        const wanted = model.get(name)
        return wanted === undefined ? [] : [objectOf(name, wanted)]
      }),
    )

  /** @throws unless the API says that all is in service, and it is, and nothing else. */
  const expectSettled = async (): Promise<void> => {
    const { items } = demand(await plane().request({ path: SPECIFICATIONS })).json() as {
      readonly items: readonly Listed[]
    }
    const digests = new Map(
      items.map(({ metadata, status: { conditions, observedGeneration, programmedDigest } }) => {
        const isReady = conditions.find(({ type }) => type === 'Ready')?.status === 'True'
        const isValidated = observedGeneration === metadata.generation
        return [metadata.name, isReady && isValidated ? programmedDigest : 'not yet']
      }),
    )
    const expected = (group: Group): ReadonlyMap<string, string | undefined> =>
      new Map(
        [...model]
          .filter(([, wanted]) => isIn(group, wanted))
          .map(([name]) => [name, digests.get(name)]),
      )
    for (const group of GROUPS) {
      const held = new Map([...odds[group].fake.specs].map(([id, { digest }]) => [id, digest]))
      expect({ group, held }).toEqual({ group, held: expected(group) })
    }
    const { specs } = await gateway.state()
    const held = new Map(Object.entries(specs).map(([id, { digest }]) => [id, digest]))
    expect(held).toEqual(expected('one'))
  }

  const untilSettled = (isDead = (): boolean => false): Promise<void> =>
    eventually(async () => {
      if (isDead()) return
      try {
        await expectSettled()
      } catch (cause) {
        const log = operator.logs().slice(-30).join('\n')
        throw new Error(`${cause instanceof Error ? cause.message : ''}\n${log}`, { cause })
      }
    }, A_LEASE_LATER)

  /** What was deleted, and what was put although it was there, by what the data plane was told, in order. */
  const historyOf = (group: Group, from: number, digests: Map<string, string>): History => {
    const deleted: string[] = []
    const twice: string[] = []
    for (const { sync, status } of odds[group].fake.calls.slice(from)) {
      if (status !== 200) continue
      for (const id of sync?.specs?.delete ?? []) {
        deleted.push(id)
        digests.delete(id)
      }
      for (const { id, digest } of sync?.specs?.put ?? []) {
        if (digests.get(id) === digest) twice.push(id)
        digests.set(id, digest)
      }
    }
    return { deleted: deleted.sort(), twice }
  }

  interface History {
    readonly deleted: readonly string[]
    readonly twice: readonly string[]
  }

  const marks = (): Record<Group, { from: number; digests: Map<string, string> }> => {
    const markOf = ({ fake }: OddPod): { from: number; digests: Map<string, string> } => ({
      from: fake.calls.length,
      digests: new Map([...fake.specs].map(([id, { digest }]) => [id, digest])),
    })
    return { one: markOf(odds.one), two: markOf(odds.two) }
  }

  /** Another life: the next one does not wait for the Lease of the one before, which is surely over. */
  const startAgain = async (): Promise<void> => {
    await releaseLease(plane())
    operator = await home.startOperator()
  }

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    const startOdd = async (group: Group): Promise<OddPod> => {
      const odd = await startOddPod(plane(), { name: `odd-${group}`, labels: { group } })
      open.defer(() => odd.fake.close())
      odd.fake.onMoment = async () => {
        look()
        await onMoment()
      }
      return odd
    }
    odds = { one: await startOdd('one'), two: await startOdd('two') }
    gateway = await home.startGatewayPod({ name: 'gw-1', labels: { group: 'one' } })
    await plane().apply([realmObject('shop')])
    await applyModel(model.keys())
    operator = await home.startOperator()
    await untilLeading(operator)
    await untilSettled()
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  it.each(
    Array.from({ length: 12 }, (_, index) => ({
      seed: index + 1,
      /** A call arrives, its response is written, another one arrives: at which of these it is killed, or after a while. */
      at: index % 3 === 2 ? 'any time' : `moment ${index + 1 - Math.floor(index / 3)}`,
      /** The next one too, soon after its start. */
      isKilledTwice: index % 4 === 3,
    })),
  )('batch $seed, killed at $at', async ({ seed, at, isKilledTwice }) => {
    const below = numbersOf(seed)
    const before = model
    const batch = nextBatch(before, seed, below)
    const marked = marks()
    model = batch.model
    homeless.length = 0
    standing = new Set([...before.keys()].filter((name) => model.has(name)))

    // What of this batch comes late must not meet the operator of another one.
    const victim = operator
    let isDead = false
    const kill = async (): Promise<void> => {
      await victim.kill()
      isDead = true
    }
    let left = Number(/\d+/.exec(at)?.[0] ?? Infinity)
    onMoment = async () => {
      left -= 1
      if (left === 0) await kill()
    }
    const killing = left === Infinity ? sleep(below(1200)).then(kill) : Promise.resolve()
    await Promise.all([
      applyModel(batch.changed),
      plane().request({ method: 'DELETE', path: `${SPECIFICATIONS}/${batch.deleted}` }),
    ])
    // It may be done before so many calls are made: then it is killed when all is well.
    await untilSettled(() => isDead).catch(() => undefined)
    onMoment = () => Promise.resolve()
    await Promise.all([killing, kill()])

    if (isKilledTwice) {
      await startAgain()
      await sleep(below(1500))
      await operator.kill()
    }
    await startAgain()
    await untilSettled()
    look()
    expect(homeless).toEqual([])
    for (const group of GROUPS) {
      const { from, digests } = marked[group]
      const gone = [...before]
        .filter(([, wanted]) => isIn(group, wanted))
        .map(([name]) => name)
        .filter((name) => {
          const wanted = model.get(name)
          return wanted === undefined || !isIn(group, wanted)
        })
      expect({ group, ...historyOf(group, from, digests) }).toEqual({
        group,
        twice: [],
        deleted: gone.sort(),
      })
    }
    const moving = model.get(SHARING[0])?.hasMoving === true ? SHARING[0] : SHARING[1]
    expect((await gateway.get('shop.test', '/sharing/moving')).text).toBe(`"${moving}"`)
  })
})
