// Rights of the operator's account that are taken away and given back: what it knows stays in service, nothing is
// deleted, what is missing is told, and it goes on by itself.

import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { grantCommand, rolesFor } from '../../../operator/resource/roles-for.ts'
import { CONFIGMAP_READER, SECRET_READER } from '../../../operator/resource/roles.ts'
import { eventually } from '../../support/eventually.ts'
import { type Access, untilForbidden, userOf } from '../../support/kubernetes/access-review.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aDocument, aRealm, resourceVersionOf } from '../../support/kubernetes/odd-documents.ts'
import { notesOf, podPages } from '../../support/kubernetes/odd-pages.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { startTcpRelay, type TcpRelay } from '../../support/tcp-relay.ts'
import { type GatewayPod, Home, LONG, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(RESTART_MS)

const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
const SUFFIX = `${OPERATOR_NAMESPACE}:svc-operator`

await describeWithKubernetes('rights that are taken away', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let gateway: GatewayPod
  let odd: OddPod
  let relay: TcpRelay

  const textAt = async (id: string): Promise<string> =>
    (await gateway.get('shop.test', `/${id}/x`)).text

  const kubectl = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await plane().kubectl(args)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  }

  const take = (...duties: readonly string[]): Promise<void> =>
    kubectl('delete', 'clusterrolebinding', ...duties.map((duty) => `${duty}:${SUFFIX}`))

  /** A right is asked for when a watch begins: when that is refused, every watch has to begin anew. */
  const cutWatches = async (access: Omit<Access, 'user'>): Promise<void> => {
    const user = userOf(OPERATOR_NAMESPACE, ACCOUNT.serviceAccount)
    await untilForbidden(plane(), { user, ...access })
    relay.cut()
  }

  const startOperator = async (): Promise<OperatorProcess> =>
    home.startOperator({ flags: ['--kubeconfig', await kubeconfigBy(relay.port)] })

  const kubeconfigBy = async (port: number): Promise<string> => {
    const text = await readFile(home.kubeconfig, 'utf8')
    const path = `${home.kubeconfig}-relayed`
    const server = `https://127.0.0.1:${port}`
    await writeFile(path, text.replace(plane().server, server), { mode: 0o600 })
    return path
  }

  const giveBack = (): Promise<void> => plane().apply(rolesFor({ ...ACCOUNT, namespaces: 'all' }))

  const untilNotes = (...words: readonly (string | RegExp)[]): Promise<void> =>
    eventually(async () => {
      const notes = (await notesOf(operator)).join('\n')
      for (const each of words) expect(notes).toMatch(each)
    }, LONG)

  const untilNoNotes = (): Promise<void> =>
    eventually(async () => {
      expect(await notesOf(operator)).toEqual([])
    }, LONG)

  const grant = (): Promise<void> =>
    kubectl(...grantCommand(ACCOUNT, SECRET_READER, 'shop').split(' ').slice(1))

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    relay = open.use(await startTcpRelay(Number(new URL(plane().server).port)))
    operator = await startOperator()
    gateway = await home.startGatewayPod({ name: 'gateway' })
    odd = open.use(await startOddPod(plane(), { name: 'odd' }))
    await grant()
    await plane().apply([
      aRealm(),
      aDocument('orders', 'first'),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'shop' },
        stringData: { word: 'secret' },
      },
      aDocument('secretive', '{{variables.word}}', {
        spec: { variablesFrom: [{ secretRef: { name: 'keys' } }] },
      }),
    ])
    for (const id of ['orders', 'secretive']) await home.until('shop', id, 'Ready', 'Ready')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync(), RESTART_MS)

  it('to documents, realms, pods and namespaces', async () => {
    const version = await resourceVersionOf(plane(), 'orders')
    await take(
      'svc-gateway-resource-reader',
      'svc-gateway-pod-reader',
      'svc-gateway-namespace-reader',
    )
    await cutWatches({ verb: 'list', resource: 'pods' })
    const right = (kind: string): string =>
      `allow the operator's service account to list and watch ${kind} resources`
    await untilNotes(
      right('ApiSpecification'),
      right('Realm'),
      right('Pod'),
      'the operator may not read Namespaces',
    )
    // None of it is gone for it.
    expect(await textAt('secretive')).toBe('"secret"')
    await kubectl('delete', 'apispec', '-n', 'shop', 'orders')
    await plane().apply([aDocument('unseen', 'unseen')])
    const known = odd.fake.calls.length
    await eventually(() => {
      expect(odd.fake.calls.length).toBeGreaterThan(known + 1)
    }, PATIENCE)
    expect([...(await podPages(operator)).values()].map(({ ready }) => ready)).toEqual([true, true])
    expect(odd.deletes()).toEqual([])
    expect(await textAt('orders')).toBe('"first"')
    expect(await operator.page('/debug/desired')).toMatchObject({
      holdDeletes: expect.stringContaining('service account'),
    })

    await giveBack()
    await eventually(async () => {
      expect(await textAt('unseen')).toBe('"unseen"')
      expect((await gateway.get('shop.test', '/orders/x')).status).toBe(404)
      expect(odd.deletes()).toEqual(['orders'])
    }, LONG)
    await untilNoNotes()
    await plane().apply([aDocument('orders', 'first')])
    await home.until('shop', 'orders', 'Ready', 'Ready')
    expect(await resourceVersionOf(plane(), 'orders')).not.toBe(version)
  })

  it('to all of it, under an operator that begins: it is not ready, and touches nothing', async () => {
    await operator.stop()
    await take('svc-gateway-resource-reader', 'svc-gateway-pod-reader')
    const known = odd.fake.calls.length
    operator = await startOperator()
    await untilNotes('ApiSpecification resources can', 'Pod resources can')
    const { status } = await fetch(`${operator.url}/ready`)
    expect(status).toBe(503)
    expect(await textAt('orders')).toBe('"first"')
    expect(odd.fake.calls.slice(known)).toEqual([])
    await giveBack()
    await untilNoNotes()
    await eventually(async () => {
      expect((await fetch(`${operator.url}/ready`)).status).toBe(204)
    }, LONG)
    await plane().apply([aDocument('orders', 'second')])
    await home.until('shop', 'orders', 'Ready', 'Ready')
    expect(await textAt('orders')).toBe('"second"')
    expect(odd.deletes()).toEqual(['orders'])
  })

  it('to a Secret: what was made with it serves on, and the command that grants it is reported', async () => {
    await kubectl('delete', 'rolebinding', '-n', 'shop', SECRET_READER)
    await cutWatches({ verb: 'list', resource: 'secrets', namespace: 'shop' })
    await eventually(async () => {
      const { message } = await home.until('shop', 'secretive', 'ResolvedRefs', 'SecretForbidden')
      expect(message).toContain(grantCommand(ACCOUNT, SECRET_READER, 'shop'))
    }, LONG)
    await home.until('shop', 'secretive', 'Programmed', 'Unresolved')
    expect(await textAt('secretive')).toBe('"secret"')
    // Another document is none the worse.
    await plane().apply([aDocument('orders', 'third')])
    await home.until('shop', 'orders', 'Ready', 'Ready')
    expect(await textAt('secretive')).toBe('"secret"')
    await grant()
    await eventually(() => home.until('shop', 'secretive', 'Ready', 'Ready'), LONG)
    expect(odd.deletes()).toEqual(['orders'])
    expect(odd.putsOf('secretive')).toBe(1)
  })

  it('to a ConfigMap, also under an operator that begins: what it held serves on', async () => {
    const allow = grantCommand(ACCOUNT, CONFIGMAP_READER, 'shop')
    await kubectl(...allow.split(' ').slice(1))
    const { spec } = aDocument('mapped', 'mapped') as { spec: { document: object } }
    await plane().apply([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'docs', namespace: 'shop' },
        data: { 'a.json': JSON.stringify(spec.document) },
      },
      {
        ...aDocument('mapped', ''),
        spec: { documentFrom: { configMap: { name: 'docs', key: 'a.json' } } },
      },
    ])
    await eventually(() => home.until('shop', 'mapped', 'Ready', 'Ready'), LONG)
    await kubectl('delete', 'rolebinding', '-n', 'shop', CONFIGMAP_READER)
    await cutWatches({ verb: 'list', resource: 'configmaps', namespace: 'shop' })
    await operator.stop()
    operator = await startOperator()
    await eventually(async () => {
      const { message } = await home.until('shop', 'mapped', 'ResolvedRefs', 'ConfigMapForbidden')
      expect(message).toContain(allow)
    }, LONG)
    expect(await textAt('mapped')).toBe('"mapped"')
    // A gateway that comes meanwhile has it from the others.
    const late = await home.startGatewayPod({ name: 'late' })
    await eventually(async () => {
      expect((await late.get('shop.test', '/mapped/x')).text).toBe('"mapped"')
    }, LONG)
    await late.remove()
    await kubectl(...allow.split(' ').slice(1))
    await eventually(() => home.until('shop', 'mapped', 'Ready', 'Ready'), LONG)
    expect(odd.deletes()).toEqual(['orders'])
  })

  it('to write statuses: documents are pushed all the same', async () => {
    await take('svc-gateway-status-writer')
    await cutWatches({
      verb: 'patch',
      group: 'gateway.svc.dev',
      resource: 'apispecifications',
      subresource: 'status',
    })
    await plane().apply([aDocument('orders', 'fourth')])
    await eventually(async () => {
      expect(await textAt('orders')).toBe('"fourth"')
    }, LONG)
    await expect(home.status('apispecifications', 'shop', 'orders')).rejects.toThrow(
      'not validated',
    )
    await giveBack()
    // That of orders is tried again within a minute; what comes now is told at once.
    await plane().apply([aDocument('told', 'told')])
    await home.until('shop', 'told', 'Ready', 'Ready')
  })

  it('to the Lease: no replica leads and all is served, and it leads again when it may', async () => {
    await kubectl(
      'delete',
      'rolebinding',
      '-n',
      OPERATOR_NAMESPACE,
      `svc-gateway-operator:${SUFFIX}`,
    )
    await eventually(async () => {
      expect(await operator.isLeading()).toBe(false)
    }, LONG)
    const calls = odd.fake.calls.length
    expect(await textAt('orders')).toBe('"fourth"')
    await plane().apply([aDocument('orders', 'fifth')])
    await giveBack()
    await eventually(async () => {
      expect(await textAt('orders')).toBe('"fifth"')
    }, LONG)
    await home.until('shop', 'orders', 'Ready', 'Ready')
    expect(odd.fake.calls.length).toBeGreaterThan(calls)
    expect(odd.deletes()).toEqual(['orders'])
  })
})
