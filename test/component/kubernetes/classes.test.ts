// Two operators of different class beside each other, with the same account, watching the same namespaces and pods:
// each serves its own documents on its own gateways and touches nothing of the other.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { resourceVersionOf } from '../../support/kubernetes/odd-documents.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import { type GatewayPod, Home, PATIENCE, type ResourceStatus } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'
import { leaseNow, loadsOf, makeFreeLease, metricOf, untilLeading } from './turns.ts'

jest.setTimeout(120_000)

const HOST = 'shop.test'
type ClassName = 'a' | 'b'

const ofClass = (
  className: ClassName | 'nginx',
  name: string,
  response: string,
  id = name,
): object =>
  documentObject('shop', name, {
    id,
    basePath: `/${id}`,
    realm: `com.shop`,
    paths: { '/x': response },
    spec: { gatewayClassName: className },
  })

await describeWithKubernetes('two operators of different class', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operators: Record<ClassName, OperatorProcess>
  let gateways: Record<ClassName, GatewayPod>

  const startOne = async (className: ClassName): Promise<OperatorProcess> => {
    const name = `operator-${className}`
    await makeFreeLease(plane(), name)
    return home.startOperator({
      flags: ['--class', className, '--manager', name, '--lease', name, '--identity', name],
    })
  }

  const heldBy = async (className: ClassName): Promise<readonly string[]> =>
    Object.keys((await gateways[className].state()).specs).sort()

  const bodies = async (path: string): Promise<Record<ClassName, string>> => {
    const body = async (className: ClassName): Promise<string> => {
      const { status, text } = await gateways[className].get(HOST, path)
      return status === 200 ? text : String(status)
    }
    return { a: await body('a'), b: await body('b') }
  }

  const writesOf = ({ url }: OperatorProcess): Promise<number> =>
    metricOf(url, 'svc_operator_status_writes_total')

  const realmVersions = async (): Promise<readonly string[]> => {
    const path = '/apis/gateway.svc.dev/v1alpha1/namespaces/shop/realms'
    const { items } = demand(await plane().request({ path })).json() as {
      readonly items: readonly { readonly metadata: { readonly resourceVersion: string } }[]
    }
    return items.map(({ metadata }) => metadata.resourceVersion)
  }

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operators = { a: await startOne('a'), b: await startOne('b') }
    const start = (className: ClassName): Promise<GatewayPod> =>
      home.startGatewayPod({
        name: `gw-${className}`,
        flags: ['--managed', `operator-${className}`],
      })
    gateways = { a: await start('a'), b: await start('b') }
    await plane().apply([
      realmObject('shop', { gatewayClassName: 'a' }, 'shop-a'),
      realmObject('shop', { gatewayClassName: 'b' }, 'shop-b'),
      ofClass('a', 'only-a', 'a'),
      ofClass('b', 'only-b', 'b'),
    ])
    await untilLeading(operators.a)
    await untilLeading(operators.b)
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  it('both lead, and each gateway holds what is of its class', async () => {
    await home.until('shop', 'only-a', 'Ready', 'Ready')
    await home.until('shop', 'only-b', 'Ready', 'Ready')
    // Statuses of Realms are written by themselves; later on nothing but what a test changes must be.
    for (const name of ['shop-a', 'shop-b']) await home.untilRealm('shop', name, 'Ready', 'Ready')
    expect([await heldBy('a'), await heldBy('b')]).toEqual([['only-a'], ['only-b']])
    expect([
      (await leaseNow(plane(), 'operator-a')).holder,
      (await leaseNow(plane(), 'operator-b')).holder,
    ]).toEqual([expect.stringMatching(/^operator-a_/), expect.stringMatching(/^operator-b_/)])
  })

  it('one id, one host, one path and one realm uri in both classes are no conflict', async () => {
    await plane().apply([
      ofClass('a', 'twin-a', 'of a', 'twin'),
      ofClass('b', 'twin-b', 'of b', 'twin'),
    ])
    await home.until('shop', 'twin-a', 'Ready', 'Ready')
    await home.until('shop', 'twin-b', 'Ready', 'Ready')
    expect(await bodies('/twin/x')).toEqual({ a: '"of a"', b: '"of b"' })
  })

  it('what changes in one class is read by neither gateway nor written in any status of the other', async () => {
    const before = {
      writes: await writesOf(operators.b),
      loads: await loadsOf(gateways.b.gateway),
      versions: [
        await resourceVersionOf(plane(), 'only-b'),
        await resourceVersionOf(plane(), 'twin-b'),
      ],
    }
    await plane().apply([ofClass('a', 'only-a', '{{nope}}')])
    await home.until('shop', 'only-a', 'Accepted', 'Invalid')
    await plane().apply([ofClass('a', 'only-a', 'changed')])
    await home.until('shop', 'only-a', 'Ready', 'Ready')
    await plane().apply([ofClass('b', 'last', 'last')])
    await home.until('shop', 'last', 'Ready', 'Ready')
    expect({
      loads: (await loadsOf(gateways.b.gateway)) - before.loads,
      versions: [
        await resourceVersionOf(plane(), 'only-b'),
        await resourceVersionOf(plane(), 'twin-b'),
      ],
    }).toEqual({ loads: 1, versions: before.versions })
    const realms = await realmVersions()
    const settled = await writesOf(operators.a)
    await plane().apply([ofClass('b', 'last', 'more')])
    await home.until('shop', 'last', 'Ready', 'Ready')
    expect({ writes: await writesOf(operators.a), realms: await realmVersions() }).toEqual({
      writes: settled,
      realms,
    })
  })

  it('a document that changes its class moves', async () => {
    await plane().apply([ofClass('a', 'mover', 'moves')])
    await home.until('shop', 'mover', 'Ready', 'Ready')
    expect(await bodies('/mover/x')).toEqual({ a: '"moves"', b: '404' })
    await plane().apply([ofClass('b', 'mover', 'moves')])
    await eventually(async () => {
      expect(await bodies('/mover/x')).toEqual({ a: '404', b: '"moves"' })
    }, PATIENCE)
    await home.until('shop', 'mover', 'Ready', 'Ready')
  })

  const statusNow = async (
    name: string,
  ): Promise<{ readonly version: string; readonly operator: string; readonly ready: string }> => {
    const path = `/apis/gateway.svc.dev/v1alpha1/namespaces/shop/apispecifications/${name}`
    const { metadata, status } = demand(await plane().request({ path })).json() as {
      readonly metadata: { readonly resourceVersion: string }
      readonly status: ResourceStatus & { readonly operator: string }
    }
    const ready = status.conditions.find(({ type }) => type === 'Ready')
    return {
      version: metadata.resourceVersion,
      operator: status.operator,
      ready: `${ready?.status ?? ''}/${ready?.reason ?? ''}`,
    }
  }

  it('a document that leaves for a class of no operator says so, once', async () => {
    await plane().apply([ofClass('a', 'leaver', 'leaves')])
    await home.until('shop', 'leaver', 'Ready', 'Ready')
    await plane().apply([ofClass('nginx', 'leaver', 'leaves')])
    const { message } = await home.until('shop', 'leaver', 'Ready', 'Released')
    expect(message).toContain('its gatewayClassName is nginx')
    const released = await statusNow('leaver')
    expect(released.ready).toBe('Unknown/Released')
    await plane().apply([ofClass('a', 'after', 'after')])
    await home.until('shop', 'after', 'Ready', 'Ready')
    expect(await statusNow('leaver')).toEqual(released)
    await plane().apply([ofClass('a', 'leaver', 'leaves')])
    await home.until('shop', 'leaver', 'Ready', 'Ready')
  })

  it('what the operator of its new class says of it stays', async () => {
    await plane().apply([ofClass('a', 'taken', 'x')])
    await home.until('shop', 'taken', 'Ready', 'Ready')
    await plane().apply([ofClass('b', 'taken', 'x')])
    await home.until('shop', 'taken', 'Ready', 'Ready')
    const taken = await statusNow('taken')
    expect(taken.operator).toMatch(/\/operator-b$/)
    await plane().apply([ofClass('a', 'after', 'more')])
    await home.until('shop', 'after', 'Ready', 'Ready')
    expect(await statusNow('taken')).toEqual(taken)
  })

  it('an operator that is stopped writes nothing', async () => {
    const names = ['only-a', 'after', 'leaver']
    const before = await Promise.all(names.map(statusNow))
    await operators.a.stop()
    expect(await Promise.all(names.map(statusNow))).toEqual(before)
    expect(before.map(({ ready }) => ready)).toEqual(names.map(() => 'True/Ready'))
  })

  it('the end of one operator is nothing to the other', async () => {
    const held = await heldBy('a')
    await plane().apply([ofClass('a', 'nobody', 'nobody'), ofClass('b', 'somebody', 'somebody')])
    await home.until('shop', 'somebody', 'Ready', 'Ready')
    await plane().apply([ofClass('b', 'somebody', 'again')])
    await home.until('shop', 'somebody', 'Ready', 'Ready')
    expect(await heldBy('a')).toEqual(held)
    expect(await bodies('/somebody/x')).toEqual({ a: '404', b: '"again"' })
    // As the API server made it.
    await expect(home.status('apispecifications', 'shop', 'nobody')).rejects.toThrow(
      'not validated',
    )
  })
})
