// What the people who run the operator rely on: the webhook as the program wires it, probes, metrics, pages, Events.

import { expect, it, jest } from '@jest/globals'
import { CLASS_LABEL } from '../../../operator/admission/served-classes.ts'
import { ETCD_REQUEST_BYTES } from '../../../operator/admission/stored-size.ts'
import { GROUP } from '../../../operator/resource/resource.ts'
import { aSpecification } from '../../support/resources.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { request } from '../../support/http-request.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { Home, PATIENCE } from './home.ts'
import { makeNamespace } from './operator-api.ts'

jest.setTimeout(120_000)

const REALM = {
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'Realm',
  metadata: { name: 'shop', namespace: 'shop' },
  spec: { uri: 'com.shop' },
}

const specification = (name: string, more: object = {}): object => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'ApiSpecification',
  metadata: { name, namespace: 'shop' },
  spec: { document: aSpecification(name, { host: `${name}.test`, ...more }) },
})

await describeWithKubernetes('an operator in service', (plane) => {
  it('has its webhook refuse what is wrong, with every fault', async () => {
    await makeNamespace(plane(), 'shop')
    await using home = await Home.open(plane())
    const webhook = `127.0.0.1:${await freePort()}`
    await home.startOperator({
      flags: ['--webhook', webhook, '--webhook-url', `https://${webhook}`],
    })
    const bad = specification('bad', { versions: { v1: { base_path: 7, paths: { x: {} } } } })
    const apply = (object: object, ...flags: readonly string[]) =>
      plane().kubectl(['apply', '--server-side', ...flags, '-f', '-'], {
        input: JSON.stringify(object),
      })
    const refused = await eventually(async () => {
      const response = await apply(bad, '--dry-run=server')
      expect(response.stderr).toContain('denied the request')
      return response
    }, PATIENCE)
    expect(refused.stderr).toContain('ApiSpecification shop/bad')
    expect(refused.stderr).toContain('/spec/document/versions/v1/base_path')
    expect(refused.stderr).toContain('/spec/document/versions/v1/paths/x')
    expect(await apply(specification('good'))).toMatchObject({ code: 0 })
  })

  it('warns of what it knows, in the words of the conditions, and tells a stranger nothing', async () => {
    await makeNamespace(plane(), 'warned')
    const apply = async (objects: readonly object[], ...flags: readonly string[]) => {
      const input = objects.map((object) => JSON.stringify(object)).join('\n---\n')
      const verb = ['apply', '--server-side', '-n', 'warned', ...flags, '-f', '-']
      const { code, stdout, stderr } = await plane().kubectl(verb, { input })
      const warnings = stderr.split('\n').filter((line) => line.startsWith('Warning: '))
      return { code, text: `${stdout}${stderr}`, warnings }
    }
    const at = (object: object, spec: object = {}): object => {
      const { metadata, ...rest } = object as { readonly metadata: object; readonly spec: object }
      const place = { ...metadata, namespace: 'warned' }
      return { ...rest, metadata: place, spec: { ...rest.spec, ...spec } }
    }
    await using home = await Home.open(plane())
    await home.startGatewayPod({ name: 'gw-warned' })
    const meta = (bytes: number, letter = 'x'): object => ({ meta: { a: letter.repeat(bytes) } })
    // What the API server says without us, of more than we would let through, and of what it escapes.
    for (const more of [meta(ETCD_REQUEST_BYTES), meta(ETCD_REQUEST_BYTES / 6, '<')]) {
      const { text } = await apply([at(specification('vast', more))])
      expect(text).toContain('etcdserver: request is too large')
    }
    const webhook = `127.0.0.1:${await freePort()}`
    await home.startOperator({
      flags: ['--webhook', webhook, '--webhook-url', `https://${webhook}`],
    })
    const lost = at(specification('lost', { realm_uri: 'com.none' }))
    await eventually(async () => {
      expect((await apply([lost], '--dry-run=server')).text).toContain("no realm 'com.none'")
    }, PATIENCE)

    // A Realm and its document by one command: what was applied before is there, as kubectl sees it.
    const orders = specification('orders')
    expect(await apply([at(REALM), at(orders)])).toMatchObject({ code: 0, warnings: [] })
    await home.until('warned', 'orders', 'Ready', 'Ready')

    const keyed = { variablesFrom: [{ name: 'v', secretRef: { name: 'none', key: 'k' } }] }
    const cases = [
      [lost, 'lost', 'RealmNotFound'],
      [at(specification('keyed'), keyed), 'keyed', 'SecretForbidden'],
    ] as const
    for (const [object, name, reason] of cases) {
      const { code, warnings } = await apply([object])
      expect([code, warnings]).toEqual([0, [expect.stringContaining('not in service yet: ')]])
      const { message } = await home.until('warned', name, 'ResolvedRefs', reason)
      expect(warnings).toEqual([`Warning: not in service yet: ${message}`])
    }

    const action = { type: 'forward', host: 'http://stock.warned.svc:8080' }
    const paths = { '/a': { get: { action, response: {} } } }
    const forwarding = (label: string): object =>
      at(specification('forwarding', { name: label, versions: { v1: { base_path: '/f', paths } } }))
    const words = 'there is no Service that the host stock.warned.svc of a forward names'
    expect((await apply([forwarding('A')])).warnings).toEqual([expect.stringContaining(words)])
    const codes = async (): Promise<readonly string[]> => {
      const { warnings = [] } = (await home.status(
        'apispecifications',
        'warned',
        'forwarding',
      )) as {
        readonly warnings?: readonly { readonly code: string }[]
      }
      return warnings.map(({ code }) => code)
    }
    await eventually(async () => {
      expect(await codes()).toEqual(['UnknownService'])
    }, PATIENCE)
    await plane().apply([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'stock', namespace: 'warned' },
        spec: { selector: { app: 'stock' }, ports: [{ port: 8080 }] },
      },
    ])
    await eventually(async () => {
      expect(await codes()).toEqual([])
    }, PATIENCE)
    expect((await apply([forwarding('B')], '--dry-run=server')).warnings).toEqual([])

    const foreign = at(specification('foreign'), { gatewayClassName: 'other' })
    const unserved = await apply([foreign], '--dry-run=server')
    expect(unserved.warnings).toEqual([
      expect.stringContaining("known release in the cluster has the class 'other'"),
    ])
    await plane().fakePod({
      namespace: 'warned',
      name: 'their-operator',
      ip: '127.0.1.9',
      ports: {},
      labels: { [CLASS_LABEL]: 'other' },
    })
    // The list is served from a cache.
    await eventually(async () => {
      expect((await apply([foreign], '--dry-run=server')).warnings).toEqual([])
    }, PATIENCE)

    const near = await apply([at(specification('near', meta(ETCD_REQUEST_BYTES - 40_000)))])
    expect([near.code, near.text]).toEqual([0, expect.stringContaining('close to the limit')])
    // There is room for its status.
    await home.until('warned', 'near', 'Accepted', 'Accepted')
    const vast = await apply([at(specification('vast', meta(2e6)))])
    expect([vast.code, vast.text]).toEqual([
      1,
      expect.stringMatching(/denied.*\n.*Split the document/),
    ])
    const escaped = await apply([at(specification('vast', meta(ETCD_REQUEST_BYTES / 6, '<')))])
    expect(escaped.text).toContain('denied the request')

    const review = {
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: 'u',
        kind: { group: GROUP, kind: 'ApiSpecification' },
        operation: 'CREATE',
        namespace: 'warned',
        name: 'lost',
        object: lost,
      },
    }
    const configuration = await plane().request({
      path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/svc-gateway',
    })
    expect(configuration.text).toMatch(/\/validate\/[0-9a-f]{32}"/)
    const [, bundle = ''] = /"caBundle":"([^"]*)"/.exec(configuration.text) ?? []
    const stranger = await request(`https://${webhook}/validate`, {
      method: 'POST',
      body: JSON.stringify(review),
      tls: { ca: Buffer.from(bundle, 'base64').toString() },
    })
    expect(stranger.text).toContain('"allowed":true')
    expect(stranger.text).not.toContain('warnings')

    const remove = ['delete', 'realm', 'shop', '-n', 'warned']
    const { code, stderr } = await plane().kubectl(remove)
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^Warning: \d documents? uses? this Realm \(.*orders.*\): its last valid/,
      ),
    ])
    // The deletion of a namespace is not delayed.
    const gone = await plane().request({ method: 'DELETE', path: '/api/v1/namespaces/warned' })
    expect(gone.status).toBe(200)
  })

  it('answers probes, counts what it does, and reports what happens', async () => {
    await makeNamespace(plane(), 'shop')
    await using home = await Home.open(plane())
    const health = `127.0.0.1:${await freePort()}`
    const operator = await home.startOperator({ flags: ['--health', health] })
    const { pod } = await home.startGatewayPod({ name: 'gw-1' })
    await plane().apply([REALM, specification('orders')])
    await home.until('shop', 'orders', 'Ready', 'Ready')
    expect((await fetch(`http://${health}/livez`)).status).toBe(204)
    expect((await fetch(`http://${health}/readyz`)).status).toBe(204)
    expect((await fetch(`http://${health}/debug/desired`)).status).toBe(404)
    // The gateway is told that this is all after it has the document.
    const metrics = await eventually(async () => {
      const text = await (await fetch(`http://${health}/metrics`)).text()
      expect(text).toMatch(/^svc_operator_data_planes\{phase="synced"\} 1$/m)
      return text
    }, PATIENCE)
    expect(metrics).toMatch(/^svc_operator_leading 1$/m)
    expect(metrics).toMatch(/^svc_operator_api_requests_total\{verb="list",code="200"\} [1-9]/m)
    expect(metrics).toMatch(/^svc_operator_items_total\{result="loaded"\} [1-9]/m)
    expect(metrics).toMatch(/^svc_operator_status_writes_total [1-9]/m)

    const difference = await operator.page(`/debug/pods/${pod.namespace}/${pod.name}/diff`)
    expect(difference).toMatchObject({ phase: 'synced', documents: { put: {}, delete: [] } })
    const resource = await operator.page('/debug/resources/shop/orders')
    expect(resource).toMatchObject({ resources: [{ kind: 'ApiSpecification', id: 'orders' }] })

    await eventually(async () => {
      const { stdout } = await plane().kubectl(['get', 'events', '-n', 'shop', '-o', 'name'])
      const { stdout: table } = await plane().kubectl(['get', 'events', '-n', 'shop'])
      expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(2)
      expect(table).toMatch(/Normal\s+Programmed\s+apispecification\/orders/)
    }, PATIENCE)
  })
})
