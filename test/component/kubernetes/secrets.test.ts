// Secrets as an owner of APIs handles them: may not be read at first, are granted, rotated and lost; and what refers
// to none of it stays as it is.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { documentObject, realmObject, roleBindingObject, secretObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(120_000)

const HOST = 'shop.test'

await describeWithKubernetes('Secrets', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let gateway: GatewayPod

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    await plane().apply([
      realmObject('shop'),
      // Never refers to anything: what happens to Secrets is nothing to it.
      documentObject('shop', 'aside'),
    ])
    await home.until('shop', 'aside', 'Ready', 'Ready')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const body = async (path: string): Promise<string> => (await gateway.get(HOST, path)).text

  const becomes = (path: string, text: string): Promise<void> =>
    eventually(async () => {
      expect(await body(path)).toBe(JSON.stringify(text))
    }, PATIENCE)

  const resourceVersion = async (name: string): Promise<string> => {
    const path = `/apis/gateway.svc.dev/v1alpha1/namespaces/shop/apispecifications/${name}`
    const { metadata } = demand(await plane().request({ path })).json() as {
      readonly metadata: { readonly resourceVersion: string }
    }
    return metadata.resourceVersion
  }

  /** Answers with the key `token` of a Secret. */
  const bearer = (name: string, secret = 'partner'): object =>
    documentObject('shop', name, {
      paths: { '/x': '{{variables.token}}' },
      spec: { variablesFrom: [{ name: 'token', secretRef: { name: secret, key: 'token' } }] },
    })

  it('what may not be read names the line that grants it, and its owner runs it as it stands', async () => {
    const owner = await plane().serviceAccount('shop', 'owner')
    await plane().apply([
      roleBindingObject('shop', 'owner', 'admin'),
      secretObject('shop', 'partner', { token: 'sesame-1' }),
      bearer('stock'),
    ])
    const { message } = await home.until('shop', 'stock', 'ResolvedRefs', 'SecretForbidden')
    const line = /kubectl (create rolebinding [^\n`'"]+)/.exec(message)?.[1] ?? ''
    expect(line).not.toBe('')
    const ready = await home.until('shop', 'stock', 'Ready', 'SecretForbidden')
    expect(ready.message).toContain(line)
    expect((await gateway.get(HOST, '/stock/x')).status).toBe(404)

    // Roles reach `admin` by aggregation, which takes its time.
    await eventually(async () => {
      const { code, stderr } = await plane().kubectl(line.trim().split(' '), { kubeconfig: owner })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }, PATIENCE)
    // No one has to touch the resource for it: the operator looks again, every 30 s at most.
    await eventually(async () => {
      const { conditions } = await home.status('apispecifications', 'shop', 'stock')
      expect(conditions.find(({ type }) => type === 'Ready')?.reason).toBe('Ready')
    }, LOOKS_AGAIN)
    expect(await body('/stock/x')).toBe('"sesame-1"')
  })

  it('a Secret that changes changes what refers to it, and nothing else', async () => {
    await plane().apply([
      secretObject('shop', 'other', { token: 'sesame-4' }),
      bearer('delivery'),
      bearer('elsewhere', 'other'),
    ])
    for (const name of ['delivery', 'elsewhere']) await home.until('shop', name, 'Ready', 'Ready')
    const versions = {
      aside: await resourceVersion('aside'),
      elsewhere: await resourceVersion('elsewhere'),
    }
    const before = await gateway.state()

    await plane().apply([secretObject('shop', 'partner', { token: 'sesame-2' })])
    await becomes('/stock/x', 'sesame-2')
    await becomes('/delivery/x', 'sesame-2')
    const between = await gateway.state()
    for (const id of ['stock', 'delivery']) {
      expect(between.specs[id]?.digest).not.toBe(before.specs[id]?.digest)
    }
    for (const id of ['aside', 'elsewhere']) expect(between.specs[id]).toEqual(before.specs[id])
    expect(between.realms).toEqual(before.realms)

    await plane().apply([secretObject('shop', 'other', { token: 'sesame-5' })])
    await becomes('/elsewhere/x', 'sesame-5')
    const after = await gateway.state()
    expect(after.specs['aside']).toEqual(before.specs['aside'])
    for (const id of ['stock', 'delivery']) expect(after.specs[id]).toEqual(between.specs[id])

    // Its own status tells of the new digest; a document that does not refer to it has none to write.
    await eventually(async () => {
      const { programmedDigest } = await home.status('apispecifications', 'shop', 'elsewhere')
      expect(programmedDigest).toBe(after.specs['elsewhere']?.digest)
    }, PATIENCE)
    expect(await resourceVersion('aside')).toBe(versions.aside)
    expect(await resourceVersion('elsewhere')).not.toBe(versions.elsewhere)
    await home.until('shop', 'stock', 'Ready', 'Ready')
  })

  it('a Secret that is deleted keeps its last value, and comes back', async () => {
    await plane().kubectl(['delete', 'secret', 'partner', '-n', 'shop'])
    const { message } = await home.until('shop', 'stock', 'ResolvedRefs', 'SecretNotFound')
    expect(message).toContain('partner')
    await home.until('shop', 'stock', 'Ready', 'SecretNotFound')
    expect(await body('/stock/x')).toBe('"sesame-2"')
    // It is not Stalled: no one has to edit the resource.
    const { conditions } = await home.status('apispecifications', 'shop', 'stock')
    expect(conditions.map(({ type }) => type)).not.toContain('Stalled')

    await plane().apply([secretObject('shop', 'partner', { token: 'sesame-3' })])
    await becomes('/stock/x', 'sesame-3')
    await home.until('shop', 'stock', 'Ready', 'Ready')
  })

  it('a Secret that loses the key keeps its last value too', async () => {
    await plane().apply([
      secretObject('shop', 'lossy', { token: 'sesame-6' }),
      bearer('lossy', 'lossy'),
    ])
    await home.until('shop', 'lossy', 'Ready', 'Ready')
    const path = '/api/v1/namespaces/shop/secrets/lossy'
    const data = { token: null, spelt: 'eA==' }
    demand(await plane().request({ method: 'PATCH', path, body: { data } }))
    const { message } = await home.until('shop', 'lossy', 'ResolvedRefs', 'KeyNotFound')
    expect(message).toContain('spelt')
    expect(await body('/lossy/x')).toBe('"sesame-6"')
  })

  it('no value of a Secret is in a status, an Event, a page or a log', async () => {
    const texts = [
      (await plane().kubectl(['get', 'apispec,realm,events', '-A', '-o', 'yaml'])).stdout,
      ...(await Promise.all(
        ['/status', '/debug/desired', '/debug/pods', '/debug/resources/shop/stock'].map(
          async (path) => JSON.stringify(await operator.page(path)),
        ),
      )),
      JSON.stringify(await gateway.state()),
      ...operator.logs(),
      ...gateway.gateway.logs(),
    ]
    const all = texts.join('\n')
    expect(all).toContain('stock')
    // As it is, and as it stands in a Secret.
    for (const value of ['sesame-', Buffer.from('sesame-').toString('base64').slice(0, 9)]) {
      expect(all).not.toContain(value)
    }
  })
})

/** What is not granted is looked at again every 30 s at most. */
const LOOKS_AGAIN = { withinMs: 70_000, everyMs: 100 }
