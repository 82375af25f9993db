// A fleet that grows from one pod to ten and shrinks to three: each has all of it before it is ready, requests go on,
// and nobody writes a status for it.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aDocument, aRealm, resourceVersionOf } from '../../support/kubernetes/odd-documents.ts'
import { podPages } from '../../support/kubernetes/odd-pages.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(120_000)

const IDS = ['orders', 'stock', 'prices']
/** Changed after all else, so that whatever was to come before has come. */
const LAST = 'last'

await describeWithKubernetes('pods that come and go', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let first: GatewayPod
  let odd: readonly OddPod[] = []
  let second: GatewayPod
  let versions: readonly string[]

  const versionsNow = (): Promise<readonly string[]> =>
    Promise.all(IDS.map((id) => resourceVersionOf(plane(), id)))

  const serves = async ({ get }: GatewayPod): Promise<void> => {
    for (const id of IDS) {
      expect(await get('shop.test', `/${id}/x`)).toEqual({ status: 200, text: `"${id}"` })
    }
  }

  /** What is programmed everywhere after it: all that was said before stands in the statuses by then. */
  const applyLast = async (body: string): Promise<void> => {
    await plane().apply([aDocument(LAST, body)])
    await home.until('shop', LAST, 'Programmed', 'Programmed')
  }

  const untilSynced = (count: number): Promise<void> =>
    eventually(async () => {
      const pages = [...(await podPages(operator)).values()]
      expect(pages.map(({ phase, ready }) => ({ phase, ready }))).toEqual(
        Array.from({ length: count }, () => ({ phase: 'synced', ready: true })),
      )
    }, PATIENCE)

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    first = await home.startGatewayPod({ name: 'gateway-1' })
    await plane().apply([aRealm(), ...IDS.map((id) => aDocument(id, id))])
    for (const id of IDS) await home.until('shop', id, 'Ready', 'Ready')
    await applyLast('one pod')
    versions = await versionsNow()
  }, 120_000)

  afterAll(() => open.disposeAsync(), 120_000)

  it('1 → 10: each is ready when it has everything, and no status is written', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `gateway-${i + 3}`)
    odd = await Promise.all(names.map((name) => startOddPod(plane(), { name })))
    for (const each of odd) open.use(each)
    second = await home.startGatewayPod({ name: 'gateway-2' })
    await untilSynced(10)
    expect(await second.isReady()).toBe(true)
    await serves(first)
    await serves(second)
    for (const { fake } of odd) {
      expect([...fake.specs.keys()].sort()).toEqual([LAST, ...IDS].sort())
      // One call for all of it, then one that says that it is all.
      expect(fake.syncs.filter(({ complete }) => complete !== undefined)).toHaveLength(1)
      expect(
        new Set(fake.syncs.flatMap(({ specs }) => specs?.put ?? []).map(({ id }) => id)),
      ).toEqual(new Set([LAST, ...IDS]))
    }
    await applyLast('ten pods')
    expect(await versionsNow()).toEqual(versions)
  })

  it('each got the change that followed, and nothing that did not change', () => {
    for (const { fake, putsOf } of odd) {
      expect(fake.specs.get(LAST)?.digest).toBe(odd[0]?.digest(LAST))
      expect(IDS.map(putsOf)).toEqual(IDS.map(() => 1))
    }
  })

  it('10 → 3: those that are left serve on, and no status is written', async () => {
    for (const each of odd.slice(1)) await each[Symbol.asyncDispose]()
    await untilSynced(3)
    await serves(first)
    await serves(second)
    await applyLast('three pods')
    expect(await versionsNow()).toEqual(versions)
    expect(odd[0]?.deletes()).toEqual([])
    expect((await first.get('shop.test', `/${LAST}/x`)).text).toBe('"three pods"')
  })

  it('3 → 0 → 1: nothing is said while there is none, and the one that comes has everything', async () => {
    await odd[0]?.[Symbol.asyncDispose]()
    await first.remove()
    await second.remove()
    await untilSynced(0)
    // What comes now is told that nobody serves it; what was programmed stays so.
    await plane().apply([aDocument(LAST, 'no pod')])
    await home.until('shop', LAST, 'Programmed', 'NoDataPlanes')
    expect(await versionsNow()).toEqual(versions)
    const again = await home.startGatewayPod({ name: 'gateway-1' })
    await home.until('shop', LAST, 'Programmed', 'Programmed')
    await serves(again)
    expect(await versionsNow()).toEqual(versions)
  })
})
