// Which gateway has which document: by labels, in the shared pool and beside an application, and what happens on the
// way when that changes.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { untilPhase } from '../../support/kubernetes/odd-pages.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'

jest.setTimeout(120_000)

const HOST = 'shop.test'

await describeWithKubernetes('gateways north, south and beside an application', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let north: GatewayPod
  let south: GatewayPod
  let sidecar: GatewayPod

  beforeAll(async () => {
    for (const namespace of ['shop', 'team']) await makeNamespace(plane(), namespace)
    home = open.use(await Home.open(plane()))
    const operator = await home.startOperator()
    north = await home.startGatewayPod({ name: 'north', labels: { region: 'north' } })
    south = await home.startGatewayPod({ name: 'south', labels: { region: 'south' } })
    sidecar = await home.startGatewayPod({
      namespace: 'shop',
      name: 'app',
      sidecar: true,
      labels: { region: 'north' },
    })
    await plane().apply([realmObject('shop'), realmObject('team')])
    // Pods come by watches of their own.
    for (const { pod } of [north, south, sidecar])
      await untilPhase(operator, `${pod.namespace}/${pod.name}`, 'synced')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  /** With a selector; without one it is of the shared pool. */
  const document = (name: string, dataPlaneSelector?: object, namespace = 'shop'): object =>
    documentObject(namespace, name, {
      spec: dataPlaneSelector === undefined ? {} : { dataPlaneSelector },
    })

  const held = async ({ state }: GatewayPod): Promise<readonly string[]> =>
    Object.keys((await state()).specs).sort()

  const status = async ({ get }: GatewayPod, path: string): Promise<number> =>
    (await get(HOST, path)).status

  const region = (name: string): object => ({ matchLabels: { region: name } })

  it('each has what selects it; a sidecar only what is of its namespace and selects it', async () => {
    await plane().apply([
      document('everywhere'),
      document('northern', region('north')),
      document('somewhere', {
        matchExpressions: [{ key: 'region', operator: 'In', values: ['south', 'west'] }],
      }),
      document('foreign', region('north'), 'team'),
      document('nowhere', region('west')),
    ])
    for (const name of ['everywhere', 'northern', 'somewhere']) {
      await home.until('shop', name, 'Ready', 'Ready')
    }
    await home.until('team', 'foreign', 'Ready', 'Ready')
    await home.until('shop', 'nowhere', 'Programmed', 'NoDataPlanes')
    expect(await held(north)).toEqual(['everywhere', 'foreign', 'northern'])
    expect(await held(south)).toEqual(['everywhere', 'somewhere'])
    expect(await held(sidecar)).toEqual(['northern'])
    // A realm carries secrets: it goes where its documents are.
    expect(Object.keys((await north.state()).realms).sort()).toEqual(['com.shop', 'com.team'])
    for (const each of [south, sidecar]) {
      expect(Object.keys((await each.state()).realms)).toEqual(['com.shop'])
    }
    for (const each of [north, south, sidecar]) expect(await each.isReady()).toBe(true)
  })

  it('a selector that changes puts the document on the new gateway before it leaves the old', async () => {
    const statuses: (readonly [old: number, next: number])[] = []
    await plane().apply([document('moving', region('north'))])
    await home.until('shop', 'moving', 'Ready', 'Ready')
    await plane().apply([document('moving', region('south'))])
    await eventually(
      async () => {
        // In this order: when the old one has lost it, the new one must have had it by then.
        const old = await status(north, '/moving/x')
        const next = await status(south, '/moving/x')
        statuses.push([old, next])
        expect([old, next]).toEqual([404, 200])
      },
      { ...PATIENCE, everyMs: 1 },
    )
    expect(statuses.filter(([old, next]) => old !== 200 && next !== 200)).toEqual([])
    await home.until('shop', 'moving', 'Ready', 'Ready')
    // It was beside the application too.
    await eventually(async () => {
      expect(await held(sidecar)).toEqual(['northern'])
    }, PATIENCE)
  })

  it('while the new gateway hangs the old one keeps the document', async () => {
    await plane().apply([document('waiting', region('north'))])
    await home.until('shop', 'waiting', 'Ready', 'Ready')
    south.gateway.signal('SIGSTOP')
    try {
      await plane().apply([document('waiting', region('south'))])
      // What came later is in service in the north: the change has been seen there.
      await plane().apply([document('later', region('north'))])
      await home.until('shop', 'later', 'Ready', 'Ready')
      await home.until('shop', 'waiting', 'Accepted', 'Accepted')
      expect(await status(north, '/later/x')).toBe(200)
      expect(await status(north, '/waiting/x')).toBe(200)
      expect(await held(north)).toContain('waiting')
    } finally {
      south.gateway.signal('SIGCONT')
    }
    await home.until('shop', 'waiting', 'Ready', 'Ready')
    expect(await status(south, '/waiting/x')).toBe(200)
    await eventually(async () => {
      expect(await status(north, '/waiting/x')).toBe(404)
    }, PATIENCE)
  })

  it('labels of a running pod count as they are now', async () => {
    await plane().apply([document('western', region('west'))])
    await home.until('shop', 'western', 'Programmed', 'NoDataPlanes')
    const path = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods/south`
    const relabel = async (name: string): Promise<void> => {
      const body = { metadata: { labels: { region: name } } }
      demand(await plane().request({ method: 'PATCH', path, body }))
    }
    await relabel('west')
    await home.until('shop', 'western', 'Ready', 'Ready')
    expect(await status(south, '/western/x')).toBe(200)
    await relabel('south')
    // No other data plane has it: it stays where it is rather than nowhere.
    await plane().apply([document('southern', region('south'))])
    await home.until('shop', 'southern', 'Ready', 'Ready')
    expect(await status(south, '/southern/x')).toBe(200)
    expect(await status(south, '/western/x')).toBe(200)
  })
})
