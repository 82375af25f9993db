// Rights to hosts that are given and taken back by annotations of Namespaces, from the API server to what a gateway
// answers, also where the operator is away meanwhile.

import assert from 'node:assert/strict'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(120_000)

await describeWithKubernetes('a right to a host', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let gateway: GatewayPod

  beforeAll(async () => {
    for (const namespace of ['shop', 'bank']) await makeNamespace(plane(), namespace)
    home = open.use(await Home.open(plane(), { tls: true }))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    await plane().apply([
      realmObject('shop', { uri: 'com.all', allowedNamespaces: { from: 'All' } }, 'all'),
      documentObject('shop', 'squatter', { realm: 'com.all', host: 'bank.test' }),
    ])
    await home.until('shop', 'squatter', 'Ready', 'Ready')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const annotate = async (namespace: string, hosts: string): Promise<void> => {
    const text = `gateway.svc.dev/hosts${hosts}`
    const args = ['annotate', 'namespace', namespace, text, '--overwrite']
    const { code, stderr } = await plane().kubectl(args)
    if (code !== 0) throw new Error(stderr)
  }

  const statusOf = async (path: string): Promise<number> =>
    (await gateway.get('bank.test', path)).status

  const becomes = (expected: Readonly<Record<string, number>>) =>
    eventually(async () => {
      const entries = Object.keys(expected).map(async (path) => [path, await statusOf(path)])
      assert.deepEqual(Object.fromEntries(await Promise.all(entries)), expected)
    }, PATIENCE)

  it('goes to the namespace whose annotation names it, whatever serves there', async () => {
    await plane().apply([documentObject('bank', 'bank', { realm: 'com.all', host: 'bank.test' })])
    await home.until('bank', 'bank', 'Ready', 'Conflicted')
    await becomes({ '/squatter/x': 200, '/bank/x': 404 })
    await annotate('bank', '=bank.test')
    await home.until('bank', 'bank', 'Ready', 'Ready')
    await becomes({ '/squatter/x': 404, '/bank/x': 200 })
    const { message } = await home.until('shop', 'squatter', 'Ready', 'Conflicted')
    expect(message).toContain('nothing serves')
  })

  it('ends where it was taken back while the operator was away', async () => {
    await operator.stop()
    await annotate('bank', '=other.test')
    expect(await statusOf('/bank/x')).toBe(200)
    operator = await home.startOperator()
    await home.until('bank', 'bank', 'Ready', 'RefNotPermitted')
    await becomes({ '/squatter/x': 200, '/bank/x': 404 })
    // What served is not in the status any more, for the operator after this one.
    const status: object = await home.status('apispecifications', 'bank', 'bank')
    expect(status).not.toHaveProperty('programmedDigest')
    await annotate('bank', '-')
    await home.until('bank', 'bank', 'Ready', 'Conflicted')
    await becomes({ '/squatter/x': 200, '/bank/x': 404 })
  })
})
