// What takes away many documents at once and is seldom meant: a CRD that is deleted, and `kubectl delete --all`.
// Gateways serve on until it is certain.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aDocument, aRealm } from '../../support/kubernetes/odd-documents.ts'
import { notesOf, podPages } from '../../support/kubernetes/odd-pages.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { type GatewayPod, Home, LONG, PATIENCE } from './home.ts'
import { applyDefinitions, makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(180_000)

const IDS = Array.from({ length: 10 }, (_, i) => `api-${i}`)
const CRDS = ['apispecifications.gateway.svc.dev', 'realms.gateway.svc.dev']

await describeWithKubernetes('many go at once', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let gateway: GatewayPod
  let odd: OddPod
  /** Ids that the data plane was told to delete, before the CRDs went. */
  let deleted: readonly string[] = []

  const applyAll = (body: string): Promise<void> =>
    plane().apply([aRealm(), ...IDS.map((id) => aDocument(id, body))])

  const serves = async (body: string): Promise<void> => {
    for (const id of IDS) {
      expect(await gateway.get('shop.test', `/${id}/x`)).toEqual({
        status: 200,
        text: `"${body}"`,
      })
    }
  }

  const untilServed = (body: string): Promise<void> => eventually(() => serves(body), PATIENCE)

  /** Both data planes have been looked at once more, and no call said that something should go. */
  const untilSeenAgain = async (): Promise<void> => {
    const known = odd.fake.calls.length
    await eventually(() => {
      expect(odd.fake.calls.length).toBeGreaterThan(known + 1)
    }, PATIENCE)
  }

  const untilPhases = (wanted: string): Promise<void> =>
    eventually(async () => {
      const pages = [...(await podPages(operator)).values()]
      expect(pages.map(({ phase }) => phase)).toEqual([wanted, wanted])
    }, PATIENCE)

  const untilDefinitionsAreGone = async (): Promise<void> => {
    for (const name of CRDS) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
      await eventually(async () => {
        expect((await plane().request({ path })).status).toBe(404)
      }, PATIENCE)
    }
  }

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gateway' })
    odd = open.use(await startOddPod(plane(), { name: 'odd' }))
    await applyAll('first')
    for (const id of IDS) await home.until('shop', id, 'Ready', 'Ready')
  }, 180_000)

  afterAll(() => open.disposeAsync(), 180_000)

  it('what is deleted in the way that is meant goes at once', async () => {
    await plane().kubectl(['delete', 'apispec', '-n', 'shop', 'api-0'])
    await eventually(async () => {
      expect((await gateway.get('shop.test', '/api-0/x')).status).toBe(404)
      expect(odd.deletes()).toEqual(['api-0'])
    }, PATIENCE)
    await plane().apply([aDocument('api-0', 'first')])
    await home.until('shop', 'api-0', 'Ready', 'Ready')
  })

  it('all are deleted at once: most of it is held back, and reported; new ones are served', async () => {
    await plane().kubectl(['delete', 'apispec', '--all', '-n', 'shop'])
    await eventually(async () => {
      for (const { phase, message } of (await podPages(operator)).values()) {
        expect(phase).toBe('holding')
        expect(message).toMatch(
          /^\d+ deletes are held back: within a minute more than 5, and more than 20 %/,
        )
      }
    }, PATIENCE)
    // kubectl deletes one by one: the first few are not too many yet.
    deleted = odd.deletes()
    expect(deleted.length).toBeLessThanOrEqual(5)
    await plane().apply([aDocument('newcomer', 'new')])
    await home.until('shop', 'newcomer', 'Programmed', 'Programmed')
    expect(odd.deletes()).toEqual(deleted)
    const responses = await Promise.all(IDS.map((id) => gateway.get('shop.test', `/${id}/x`)))
    expect(responses.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(5)
    expect(responses.filter(({ text }) => text === '"first"').length).toBeGreaterThanOrEqual(5)
    // An owner who did not mean it applies them again: no delete is left to be held back.
    await applyAll('first')
    for (const id of IDS) await home.until('shop', id, 'Ready', 'Ready')
    await serves('first')
    expect(odd.deletes()).toEqual(deleted)
    await untilPhases('synced')
  })

  it('CRDs are deleted: all is served on, and the condition is reported', async () => {
    await plane().kubectl(['delete', 'crd', ...CRDS])
    await untilDefinitionsAreGone()
    await eventually(async () => {
      const notes = (await notesOf(operator)).join('\n')
      expect(notes).toMatch(/ApiSpecification resources can't be read .*apply the CRDs/)
      expect(notes).toMatch(/Realm resources can't be read .*apply the CRDs/)
    }, PATIENCE)
    await untilSeenAgain()
    expect(odd.deletes()).toEqual(deleted)
    await serves('first')
    expect(await gateway.isReady()).toBe(true)
  })

  it('a gateway that comes while they are gone gets what there was', async () => {
    await using late = await startOddPod(plane(), { name: 'late' })
    await eventually(() => {
      expect(late.fake.complete).toBe(true)
      expect(late.fake.specs).toEqual(odd.fake.specs)
    }, PATIENCE)
  })

  it('an operator that comes while they are gone touches nothing', async () => {
    await operator.stop()
    operator = await home.startOperator()
    await eventually(async () => {
      expect((await notesOf(operator)).join('\n')).toContain('apply the CRDs')
    }, PATIENCE)
    const ready = await fetch(`${operator.url}/ready`)
    expect({ status: ready.status, text: await ready.text() }).toMatchObject({
      status: 503,
      text: expect.stringContaining('have not been read yet'),
    })
    expect(odd.deletes()).toEqual(deleted)
    await serves('first')
  })

  it('they are made again, and all is applied again: all is back, and nothing ever went', async () => {
    await applyDefinitions(plane())
    await applyAll('first')
    // Each kind is watched again after a pause of its own: documents may be back before Realms.
    await eventually(async () => {
      expect(await notesOf(operator)).toEqual([])
    }, LONG)
    for (const id of IDS) await home.until('shop', id, 'Ready', 'Ready')
    await serves('first')
    expect(odd.deletes()).toEqual(deleted)
  })

  it('deleted and made again under an operator that has seen it all', async () => {
    const puts = odd.putsOf('api-0')
    await plane().kubectl(['delete', 'crd', ...CRDS])
    await untilDefinitionsAreGone()
    await applyDefinitions(plane())
    await applyAll('second')
    for (const id of IDS) await home.until('shop', id, 'Ready', 'Ready')
    await untilServed('second')
    expect(odd.deletes()).toEqual(deleted)
    expect(odd.putsOf('api-0')).toBe(puts + 1)
    // For a minute it is not known what went with them from what is deleted now.
    await plane().kubectl(['delete', 'apispec', '-n', 'shop', 'api-0'])
    await eventually(async () => {
      expect(await operator.page('/debug/desired')).toMatchObject({
        holdDeletes: expect.stringContaining('was gone and is back'),
      })
    }, PATIENCE)
    await untilSeenAgain()
    await serves('second')
  })
})
