// Where documents may lead, from the annotation of a Namespace to what a gateway answers.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'

jest.setTimeout(120_000)

const DESTINATIONS = 'gateway.svc.dev/destinations'

await describeWithKubernetes('the policy of a namespace', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  let upstream: Server

  beforeAll(async () => {
    upstream = createServer((_, response) => response.end('the bank'))
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane(), { tls: true }))
    await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    const host = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    const get = { action: { type: 'forward', host, path: '/' }, response: {} }
    const versions = { v1: { base_path: '/orders', paths: { '/x': { get } } } }
    const document = documentObject('shop', 'orders', { more: { versions } })
    await plane().apply([realmObject('shop'), document])
  }, RESTART_MS)

  afterAll(async () => {
    await open.disposeAsync()
    upstream.closeAllConnections()
    await new Promise((resolve) => upstream.close(resolve))
  })

  const annotate = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await plane().kubectl(['annotate', 'namespace', 'shop', ...args])
    if (code !== 0) throw new Error(stderr)
  }

  const conditionOf = async (type: string) => {
    const { conditions } = await home.status('apispecifications', 'shop', 'orders')
    return conditions.find((each) => each.type === type)
  }

  /** What the gateway answers, and what the document is told. */
  const seen = async (): Promise<readonly unknown[]> => {
    const { status } = await gateway.get('shop.test', '/orders/x')
    return [status, (await conditionOf('ResolvedRefs'))?.reason]
  }

  it('takes effect as it is set, changed and removed', async () => {
    const steps: readonly (readonly [annotation: string, ...seen: unknown[]])[] = [
      [`${DESTINATIONS}=any`, 200, 'ResolvedRefs'],
      [`${DESTINATIONS}=own`, 504, 'RefNotPermitted'],
      [`${DESTINATIONS}-`, 200, 'ResolvedRefs'],
    ]
    for (const [annotation, ...expected] of steps) {
      await annotate(annotation, '--overwrite')
      await eventually(async () => {
        expect(await seen()).toEqual(expected)
      }, PATIENCE)
    }
  })

  it('names the field that leads elsewhere', async () => {
    await annotate(`${DESTINATIONS}=own`)
    await eventually(async () => {
      expect(await conditionOf('Ready')).toMatchObject({
        status: 'False',
        message: expect.stringContaining('/spec/document/versions/v1/paths/~1x/get/action/host'),
      })
    }, PATIENCE)
  })
})
