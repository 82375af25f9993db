// What whoever runs the operator relies on: the webhook as the program wires it, probes, metrics, pages, Events.

import { expect, it, jest } from '@jest/globals'
import { aSpecification } from '../../support/resources.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
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
      const answer = await apply(bad, '--dry-run=server')
      expect(answer.stderr).toContain('denied the request')
      return answer
    }, PATIENCE)
    expect(refused.stderr).toContain('ApiSpecification shop/bad')
    expect(refused.stderr).toContain('/spec/document/versions/v1/base_path')
    expect(refused.stderr).toContain('/spec/document/versions/v1/paths/x')
    expect(await apply(specification('good'))).toMatchObject({ code: 0 })
  })

  it('answers probes, counts what it does, and tells of what happens', async () => {
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
    const metrics = await (await fetch(`http://${health}/metrics`)).text()
    expect(metrics).toMatch(/^svc_operator_leading 1$/m)
    expect(metrics).toMatch(/^svc_operator_api_requests_total\{verb="list",code="200"\} [1-9]/m)
    expect(metrics).toMatch(/^svc_operator_items_total\{result="loaded"\} [1-9]/m)
    expect(metrics).toMatch(/^svc_operator_status_writes_total [1-9]/m)
    expect(metrics).toMatch(/^svc_operator_data_planes\{phase="synced"\} 1$/m)

    const difference = await operator.page(`/debug/pods/${pod.namespace}/${pod.name}/diff`)
    expect(difference).toMatchObject({ phase: 'synced', documents: { put: {}, delete: [] } })
    const resource = await operator.page('/debug/resources/shop/orders')
    expect(resource).toMatchObject({ resources: [{ kind: 'ApiSpecification', id: 'orders' }] })

    await eventually(async () => {
      const { stdout } = await plane().kubectl(['get', 'events', '-n', 'shop', '-o', 'name'])
      const { stdout: table } = await plane().kubectl(['get', 'events', '-n', 'shop'])
      expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(2)
      expect(table).toMatch(/Normal\s+Accepted\s+apispecification\/orders/)
      expect(table).toMatch(/Normal\s+Programmed\s+apispecification\/orders/)
    }, PATIENCE)
  })
})
