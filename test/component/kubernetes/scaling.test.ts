// A fleet that grows from one pod to ten and shrinks to three: each has all of it before it is ready, requests go on,
// and no replica writes a status for it. Nor does it stand still for what one team has broken, or deleted.

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { grantObject } from '../../../operator/resource/roles-for.ts'
import { CONFIGMAP_READER, SECRET_READER } from '../../../operator/resource/roles.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aDocument, aRealm } from '../../support/kubernetes/odd-documents.ts'
import { podPages } from '../../support/kubernetes/odd-pages.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import {
  aDocument as teamDocument,
  configMapObject,
  documentObject,
  realmObject,
  secretObject,
} from './objects.ts'
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
  let conditions: readonly unknown[]

  /** What a status counts follows after a minute: how many writes that takes is tested without a cluster. */
  const conditionsNow = (): Promise<readonly unknown[]> =>
    Promise.all(
      IDS.map(async (id) => (await home.status('apispecifications', 'shop', id)).conditions),
    )

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
    operator = await home.startOperator({
      flags: ['--deleted-realm-seconds', '3', '--withhold-seconds', '4'],
    })
    first = await home.startGatewayPod({ name: 'gateway-1' })
    await plane().apply([aRealm(), ...IDS.map((id) => aDocument(id, id))])
    for (const id of IDS) await home.until('shop', id, 'Ready', 'Ready')
    await applyLast('one pod')
    conditions = await conditionsNow()
  }, 120_000)

  afterAll(() => open.disposeAsync(), 120_000)

  it('1 → 10: each is ready when it has everything, and no condition changes', async () => {
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
    expect(await conditionsNow()).toEqual(conditions)
  })

  it('each got the change that followed, and nothing that did not change', () => {
    for (const { fake, putsOf } of odd) {
      expect(fake.specs.get(LAST)?.digest).toBe(odd[0]?.digest(LAST))
      expect(IDS.map(putsOf)).toEqual(IDS.map(() => 1))
    }
  })

  it('10 → 3: those that are left serve on, and no condition changes', async () => {
    for (const each of odd.slice(1)) await each[Symbol.asyncDispose]()
    await untilSynced(3)
    await serves(first)
    await serves(second)
    await applyLast('three pods')
    expect(await conditionsNow()).toEqual(conditions)
    expect(odd[0]?.deletes()).toEqual([])
    expect((await first.get('shop.test', `/${LAST}/x`)).text).toBe('"three pods"')
  })

  it('3 → 0 → 1: no condition changes while there is none, and the one that comes has everything', async () => {
    await odd[0]?.[Symbol.asyncDispose]()
    await first.remove()
    await second.remove()
    await untilSynced(0)
    // What comes now has the status that no data plane serves it; what was programmed stays so.
    await plane().apply([aDocument(LAST, 'no pod')])
    await home.until('shop', LAST, 'Programmed', 'NoDataPlanes')
    expect(await conditionsNow()).toEqual(conditions)
    const again = await home.startGatewayPod({ name: 'gateway-1' })
    await home.until('shop', LAST, 'Programmed', 'Programmed')
    await serves(again)
    expect(await conditionsNow()).toEqual(conditions)
    first = again
  })

  describe('while another team breaks, deletes and abuses what is its own', () => {
    /** Gateways take less than the operator allows. */
    const FLAGS = ['--max-routes', '8']
    const gateways = new Map<string, GatewayPod>()
    const TEAM = 'team'

    const add = async (names: readonly string[], flags = FLAGS): Promise<void> => {
      for (const [i, pod] of (
        await Promise.all(names.map((name) => home.startGatewayPod({ name, flags })))
      ).entries())
        gateways.set(names[i] ?? '', pod)
      await Promise.all(names.map((name) => untilReady(podOf(name))))
    }

    const drain = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) {
        await podOf(name).remove()
        gateways.delete(name)
      }
    }

    const podOf = (name: string): GatewayPod => {
      const pod = gateways.get(name)
      if (pod === undefined) throw new Error(`no gateway ${name}`)
      return pod
    }

    const untilReady = ({ isReady }: GatewayPod): Promise<void> =>
      eventually(async () => {
        expect(await isReady()).toBe(true)
      }, PATIENCE)

    const statusesOf = async (name: string): Promise<readonly number[]> => {
      const responses = await Promise.all(
        [...gateways.values()].map(({ get }) => get('team.test', `/${name}/x`)),
      )
      return responses.map(({ status }) => status)
    }

    const everywhere = (status: number): readonly number[] => [...gateways].map(() => status)

    const wide = (name: string, paths: number): object =>
      documentObject(TEAM, name, {
        paths: Object.fromEntries(Array.from({ length: paths }, (_, i) => [`/${i || 'x'}`, name])),
      })

    const byMap = (text: string): object => configMapObject(TEAM, 'map', { data: { doc: text } })

    beforeAll(async () => {
      const account = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
      await makeNamespace(plane(), TEAM)
      await add(['old-1', 'old-2'])
      await first.remove()
      await plane().apply([
        grantObject(account, SECRET_READER, TEAM),
        grantObject(account, CONFIGMAP_READER, TEAM),
        realmObject(TEAM),
        realmObject(TEAM, { uri: 'com.leaving' }, 'leaving'),
        secretObject(TEAM, 'words', { word: 'hello' }),
        byMap(JSON.stringify(teamDocument(TEAM, 'by-map'))),
        {
          ...documentObject(TEAM, 'by-map'),
          spec: { documentFrom: { configMap: { name: 'map', key: 'doc' } } },
        },
        documentObject(TEAM, 'by-realm', { realm: 'com.leaving' }),
        documentObject(TEAM, 'by-secret', {
          paths: { '/x': '{{variables.word}}' },
          spec: { variablesFrom: [{ name: 'word', secretRef: { name: 'words', key: 'word' } }] },
        }),
        documentObject(TEAM, 'by-selector'),
        wide('hostile', 2),
        wide('wide', 6),
      ])
      for (const each of ['by-realm', 'by-secret', 'by-map', 'by-selector', 'hostile', 'wide'])
        await home.until(TEAM, each, 'Ready', 'Ready')
    }, 120_000)

    it('2 → 4, and two are replaced: all are ready, and what was good last serves on at each', async () => {
      await plane().kubectl(['delete', 'realm', 'leaving', '-n', TEAM])
      await plane().kubectl(['delete', 'secret', 'words', '-n', TEAM])
      await plane().apply([
        byMap('{ no JSON'),
        documentObject(TEAM, 'by-selector', {
          spec: { dataPlaneSelector: { matchLabels: { zone: 'nowhere' } } },
        }),
        wide('hostile', 9),
      ])
      await add(['new-1', 'new-2'])
      await applyLast('four pods')
      await home.until(TEAM, 'by-realm', 'ResolvedRefs', 'RealmDeleted')
      await home.until(TEAM, 'by-secret', 'ResolvedRefs', 'SecretNotFound')
      await home.until(TEAM, 'by-map', 'Accepted', 'Invalid')
      await home.until(TEAM, 'by-selector', 'Programmed', 'NoDataPlanes')
      await add(['newer-1', 'newer-2'])
      await drain('old-1', 'new-1')
      await applyLast('two others')
      for (const each of ['by-realm', 'by-secret', 'by-map'])
        expect([each, await statusesOf(each)]).toEqual([each, everywhere(200)])
      for (const [, { state }] of gateways)
        expect(Object.keys((await state()).realms)).not.toContain('com.leaving')
    })

    it('a gateway that refuses what others serve is kept back for a while, and then no more', async () => {
      // For requests of others it is as good as any.
      await add(['tight-1'], ['--max-routes', '2'])
      // Events go out by themselves.
      await eventually(async () => {
        const args = ['events', '--for=pod/tight-1', '-n', OPERATOR_NAMESPACE]
        expect((await plane().kubectl(args)).stdout).toMatch(/Withheld.*wide/)
      }, PATIENCE)
      await serves(podOf('tight-1'))
      await home.until(TEAM, 'wide', 'Programmed', 'PartiallyProgrammed')
      await applyLast('a tight one')
    })

    it('a Realm that is to be deleted now is gone from all at once', async () => {
      await plane().kubectl([
        'annotate',
        'realm',
        TEAM,
        '-n',
        TEAM,
        'gateway.svc.dev/delete-now=true',
      ])
      await plane().kubectl(['delete', 'realm', TEAM, '-n', TEAM])
      await home.until(TEAM, 'by-map', 'Accepted', 'Invalid')
      await eventually(async () => {
        for (const [, { state }] of gateways)
          expect(Object.keys((await state()).realms)).toEqual(['com.shop'])
      }, PATIENCE)
      expect(await statusesOf('by-map')).toEqual(everywhere(200))
    })

    it('all of its namespace can be deleted, also while there is no operator', async () => {
      await operator.stop()
      const held = await plane().kubectl([
        'get',
        'realms,apispecifications',
        '-A',
        '-o',
        'jsonpath={..metadata.finalizers}',
      ])
      expect(held.stdout).toBe('')
      const kinds = 'apispecifications,realms,configmaps,rolebindings'
      await plane().kubectl(['delete', kinds, '--all', '-n', TEAM, '--timeout=30s'])
      operator = await home.startOperator()
      await applyLast('the team is gone')
    })
  })
})
