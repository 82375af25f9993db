// What an owner of an API sees from `kubectl apply` on: the whole way, from a document to a response.

import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { grantCommand, grantObject } from '../../../operator/resource/roles-for.ts'
import { CONFIGMAP_READER, SECRET_READER } from '../../../operator/resource/roles.ts'
import { eventually } from '../../support/eventually.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type GatewayPod, Home, LONG, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import {
  aDocument,
  configMapObject,
  documentObject,
  realmObject,
  roleBindingObject,
  secretObject,
} from './objects.ts'
import { makeNamespace } from './operator-api.ts'

jest.setTimeout(120_000)

const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
const HOST = 'shop.test'
const PAUSED = 'gateway.svc.dev/paused'

await describeWithKubernetes('with mutual TLS, as in a cluster', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  /** The owner of the APIs of the namespace, and of nothing else. */
  let owner: string

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane(), { tls: true }))
    await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    owner = await plane().serviceAccount('shop', 'owner')
    await plane().apply([realmObject('shop'), roleBindingObject('shop', 'owner', 'admin')])
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await plane().kubectl([...args, '-n', 'shop'], {
      kubeconfig: owner,
    })
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  const waitFor = (name: string, condition: string): Promise<string> =>
    kubectl('wait', `apispec/${name}`, `--for=condition=${condition}`, '--timeout=60s')

  const body = async (path: string): Promise<string> => {
    const { status, text } = await gateway.get(HOST, path)
    return status === 200 ? text : `${status}`
  }

  it('a document is served, breaks, is mended, and goes', async () => {
    // Roles reach `admin` by aggregation, which takes its time.
    await eventually(() => kubectl('get', 'apispec,realm'), PATIENCE)
    await plane().apply([documentObject('shop', 'orders', { paths: { '/x': 'first' } })])
    expect(await waitFor('orders', 'Programmed')).toContain('orders condition met')
    // It is told that this is all in a call of its own.
    await eventually(async () => {
      expect(await gateway.isReady()).toBe(true)
    }, PATIENCE)
    expect(await body('/orders/x')).toBe('"first"')

    await plane().apply([documentObject('shop', 'orders', { paths: { '/x': '{{nope}}' } })])
    await waitFor('orders', 'Stalled')
    const pointer = '/spec/document/versions/v1/paths/~1x/get/action/body'
    const columns = await kubectl('get', 'apispec', 'orders', '-o', 'wide')
    expect(columns).toMatch(/orders\s+shop.test\s+com.shop\s+1\s+1\/1\s+False\s+False\s+Invalid/)
    expect(columns).toContain(pointer)
    const { errors, programmedGeneration } = await home.status(
      'apispecifications',
      'shop',
      'orders',
    )
    expect(errors?.[0]?.path).toBe(pointer)
    expect(programmedGeneration).toBe(1)
    expect(await body('/orders/x')).toBe('"first"')
    // Events go out by themselves, after the status.
    await eventually(async () => {
      const events = await kubectl('events', '--for', 'apispec/orders')
      for (const reason of ['Programmed', 'Rejected']) expect(events).toContain(reason)
      expect(events).not.toContain('Accepted')
    }, PATIENCE)

    await plane().apply([documentObject('shop', 'orders', { paths: { '/x': 'second' } })])
    // Of this generation: what was true of the first one does not count.
    await waitFor('orders', 'Programmed')
    expect(await body('/orders/x')).toBe('"second"')
    await waitFor('orders', 'Ready')
    expect(await kubectl('get', 'apispec', 'orders')).toMatch(
      /com.shop\s+3\s+1\/1\s+True\s+True\s+Ready/,
    )

    await kubectl('delete', 'apispec', 'orders')
    await eventually(async () => {
      expect(await body('/orders/x')).toBe('404')
    }, PATIENCE)
  })

  it('every generation is in service when kubectl has waited for it', async () => {
    for (const version of ['a', 'b', 'c', 'd', 'e']) {
      await plane().apply([documentObject('shop', 'busy', { paths: { '/x': version } })])
      await waitFor('busy', 'Programmed')
      expect(await body('/busy/x')).toBe(`"${version}"`)
    }
  })

  it('a document in a ConfigMap is served, follows it, and outlives it', async () => {
    const from = (key: string): object => ({
      apiVersion: 'gateway.svc.dev/v1alpha1',
      kind: 'ApiSpecification',
      metadata: { name: 'catalogue', namespace: 'shop' },
      spec: { documentFrom: { configMap: { name: 'catalogue', key } } },
    })
    const json = (response: string): string =>
      JSON.stringify(aDocument('shop', 'catalogue', { paths: { '/x': response } }))
    const becomes = (response: string): Promise<void> =>
      eventually(async () => {
        expect(await body('/catalogue/x')).toBe(response)
      }, PATIENCE)

    await plane().apply([from('document.json')])
    const forbidden = await home.until('shop', 'catalogue', 'ResolvedRefs', 'ConfigMapForbidden')
    expect(forbidden.message).toContain(grantCommand(ACCOUNT, CONFIGMAP_READER, 'shop'))
    await plane().apply([grantObject(ACCOUNT, CONFIGMAP_READER, 'shop')])
    // By itself it is tried again every 30 s at most.
    await eventually(
      () => home.until('shop', 'catalogue', 'ResolvedRefs', 'ConfigMapNotFound'),
      LONG,
    )
    await plane().apply([
      configMapObject('shop', 'catalogue', { data: { 'document.json': json('plain') } }),
    ])
    await home.until('shop', 'catalogue', 'Ready', 'Ready')
    expect(await body('/catalogue/x')).toBe('"plain"')
    await plane().apply([
      configMapObject('shop', 'catalogue', { data: { 'document.json': json('changed') } }),
    ])
    await becomes('"changed"')

    await plane().apply([
      configMapObject('shop', 'catalogue', {
        data: { 'document.json': json('plain') },
        binaryData: { 'document.json.gz': gzipSync(json('gzipped')).toString('base64') },
      }),
      from('document.json.gz'),
    ])
    await becomes('"gzipped"')
    await waitFor('catalogue', 'Ready')

    await plane().apply([from('no-such-key')])
    const { message } = await home.until('shop', 'catalogue', 'ResolvedRefs', 'KeyNotFound')
    expect(message).toContain('document.json.gz')
    await kubectl('delete', 'configmap', 'catalogue')
    await home.until('shop', 'catalogue', 'ResolvedRefs', 'ConfigMapNotFound')
    expect(await body('/catalogue/x')).toBe('"gzipped"')

    await plane().apply([
      configMapObject('shop', 'catalogue', { data: { 'document.json': '{"id": "catalogue"' } }),
      from('document.json'),
    ])
    await home.until('shop', 'catalogue', 'Stalled', 'Invalid')
    const { errors } = await home.status('apispecifications', 'shop', 'catalogue')
    expect(errors?.[0]?.path).toBe('/spec/documentFrom/configMap')
    expect(await body('/catalogue/x')).toBe('"gzipped"')
  })

  it('keys of Secrets are variables, beside those of the document', async () => {
    await plane().apply([
      grantObject(ACCOUNT, SECRET_READER, 'shop'),
      secretObject('shop', 'partner', { token: 'open-sesame', 'other.key': 'not a name' }),
      secretObject('shop', 'whole', { first: '1', second: '2' }),
      documentObject('shop', 'stock', {
        paths: {
          '/x': '{{variables.plain}} {{variables.partner_token}} {{variables.first}}{{variables.second}}',
        },
        more: { variables: { plain: 'plain', first: 'of the document' } },
        spec: {
          variablesFrom: [
            { secretRef: { name: 'whole' } },
            { name: 'partner_token', secretRef: { name: 'partner', key: 'token' } },
          ],
        },
      }),
    ])
    await waitFor('stock', 'Ready')
    expect(await body('/stock/x')).toBe('"plain open-sesame 12"')
    const told = await kubectl('get', 'apispec,events', '-o', 'yaml')
    expect(told).not.toContain('open-sesame')
  })

  it('while it is paused nothing new is served, and its problems are reported all the same', async () => {
    const version = (response: string): object =>
      documentObject('shop', 'held', { paths: { '/x': response } })
    await plane().apply([version('before')])
    await waitFor('held', 'Ready')
    await kubectl('annotate', 'apispec', 'held', `${PAUSED}=true`)
    // Metadata make no generation: what serves is as it was.
    await plane().apply([version('after')])
    const { message } = await home.until('shop', 'held', 'Programmed', 'Pending')
    expect(message).toContain('generation 1 serves')
    expect(await body('/held/x')).toBe('"before"')
    await plane().apply([version('{{nope}}')])
    await home.until('shop', 'held', 'Stalled', 'Invalid')

    await plane().apply([version('after all')])
    await home.until('shop', 'held', 'Ready', 'Pending')
    expect(await body('/held/x')).toBe('"before"')
    await kubectl('annotate', 'apispec', 'held', `${PAUSED}-`)
    await waitFor('held', 'Programmed')
    expect(await body('/held/x')).toBe('"after all"')

    await kubectl('annotate', 'apispec', 'held', `${PAUSED}=true`)
    await kubectl('delete', 'apispec', 'held')
    await eventually(async () => {
      expect(await body('/held/x')).toBe('404')
    }, PATIENCE)
  })
})
