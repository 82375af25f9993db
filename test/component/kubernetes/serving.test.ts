// What an owner of an API sees from `kubectl apply` on: the whole way, from a document to an answer.

import { expect, it, jest } from '@jest/globals'
import { aSpecification } from '../../support/resources.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { eventually } from '../../support/eventually.ts'
import { Home, PATIENCE } from './home.ts'
import { makeNamespace } from './operator-api.ts'

jest.setTimeout(120_000)

const REALM = {
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'Realm',
  metadata: { name: 'shop', namespace: 'shop' },
  spec: { uri: 'com.shop' },
}

const documentOf = (id: string, body: unknown, more: object = {}): object => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'ApiSpecification',
  metadata: { name: id, namespace: 'shop' },
  spec: {
    document: aSpecification(id, {
      host: 'shop.test',
      versions: {
        v1: {
          base_path: `/${id}`,
          paths: { '/x': { get: { action: { type: 'static', body }, response: {} } } },
        },
      },
      ...more,
    }),
  },
})

await describeWithKubernetes('with mutual TLS, as in a cluster', (plane) => {
  it('a document is served, breaks, is mended, and goes', async () => {
    await makeNamespace(plane(), 'shop')
    await using home = await Home.open(plane(), { tls: true })
    await home.startOperator()
    const { get, isReady } = await home.startGatewayPod({ name: 'gw-1' })
    await plane().apply([REALM, documentOf('orders', 'first')])
    await home.until('shop', 'orders', 'Programmed', 'Programmed')
    expect(await isReady()).toBe(true)
    expect(await get('shop.test', '/orders/x')).toEqual({ status: 200, text: '"first"' })

    const broken = documentOf('orders', '{{nope}}')
    await plane().apply([broken])
    await home.until('shop', 'orders', 'Stalled', 'Invalid')
    const columns = await kubectlGet(plane(), 'orders')
    expect(columns).toMatch(/orders\s+shop.test\s+com.shop\s+False\s+False\s+Invalid/)
    const { errors, programmedGeneration } = await home.status(
      'apispecifications',
      'shop',
      'orders',
    )
    expect(errors?.[0]?.path).toBe('/spec/document/versions/v1/paths/~1x/get/action/body')
    expect(programmedGeneration).toBe(1)
    expect((await get('shop.test', '/orders/x')).text).toBe('"first"')

    await plane().apply([documentOf('orders', 'second')])
    await home.until('shop', 'orders', 'Ready', 'Ready')
    expect((await get('shop.test', '/orders/x')).text).toBe('"second"')

    await plane().kubectl(['delete', 'apispec', 'orders', '-n', 'shop'])
    await eventually(async () => {
      expect((await get('shop.test', '/orders/x')).status).toBe(404)
    }, PATIENCE)
  })
})

const kubectlGet = async (plane: ControlPlane, name: string): Promise<string> => {
  const { stdout } = await plane.kubectl(['get', 'apispec', name, '-n', 'shop'])
  return stdout
}
