// An API server that has no time for the operator: 429 for every request of its account beside one, which the test
// keeps for itself. Watches that are open stay open, and everything else waits until there is room.

import { readFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { parse } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { resourceVersionOf } from '../../support/kubernetes/odd-documents.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'
import { leaseNow, metricOf, untilFollowing, untilLeading, whileAsking } from './turns.ts'

jest.setTimeout(180_000)

const HOST = 'shop.test'
const FLOW = 'flowcontrol.apiserver.k8s.io/v1'
const NAME = 'too-many-requests'

/** With 0 shares the API server lets a lone request pass even so. */
const LEVEL = {
  apiVersion: FLOW,
  kind: 'PriorityLevelConfiguration',
  metadata: { name: NAME },
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: 'Reject' },
    },
  },
}

const SCHEMA = {
  apiVersion: FLOW,
  kind: 'FlowSchema',
  metadata: { name: NAME },
  spec: {
    priorityLevelConfiguration: { name: NAME },
    matchingPrecedence: 10,
    rules: [
      {
        subjects: [
          {
            kind: 'ServiceAccount',
            serviceAccount: { namespace: OPERATOR_NAMESPACE, name: 'svc-operator' },
          },
        ],
        resourceRules: [
          {
            verbs: ['*'],
            apiGroups: ['*'],
            resources: ['*'],
            namespaces: ['*'],
            clusterScope: true,
          },
        ],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ],
  },
}

/** A request of that account that never ends its body: it holds the one place there is until it is given back. */
const takeThePlace = async (plane: ControlPlane, kubeconfig: string): Promise<() => void> => {
  const { users } = parse(await readFile(kubeconfig, 'utf8')) as {
    readonly users: readonly { readonly user: { readonly token: string } }[]
  }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const headers = {
    authorization: `Bearer ${users[0]?.user.token ?? ''}`,
    'content-type': 'application/json',
    'content-length': '1000',
  }
  let isOver = false
  let current: ReturnType<typeof httpsRequest> | undefined
  const take = (): void => {
    if (isOver) return
    const request = httpsRequest(`${plane.server}${path}`, {
      method: 'POST',
      headers,
      ca: plane.ca,
      agent: false,
    })
    current = request
    // Where another one was there before us: again, until we have it.
    request.on('response', (response) => {
      response.resume()
      request.destroy()
    })
    request.on('error', () => undefined)
    request.on('close', () => setTimeout(take, 20))
    request.flushHeaders()
  }
  take()
  return () => {
    isOver = true
    current?.destroy()
  }
}

await describeWithKubernetes('an API server that answers 429', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  let odd: OddPod
  let operator: OperatorProcess

  const body = async (name: string): Promise<string> => {
    const { status, text } = await gateway.get(HOST, `/${name}/x`)
    return status === 200 ? text : String(status)
  }

  const refusals = (): Promise<number> =>
    metricOf(operator.url, 'svc_operator_api_requests_total', 'code="429"')

  const requests = (): Promise<number> => metricOf(operator.url, 'svc_operator_api_requests_total')

  const apply = (name: string, response: string): Promise<void> =>
    plane().apply([documentObject('shop', name, { paths: { '/x': response } })])

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    odd = await startOddPod(plane(), { name: 'odd-1' })
    open.defer(() => odd.fake.close())
    await plane().apply([realmObject('shop'), documentObject('shop', 'kept')])
    await untilLeading(operator)
    await apply('changing', 'first')
    await home.until('shop', 'kept', 'Ready', 'Ready')
    await home.until('shop', 'changing', 'Ready', 'Ready')
    await home.untilCounted('shop', 'kept', '2/2')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  it('what serves stays, the API server is not called without end, and all is written when there is room again', async () => {
    const before = {
      lease: await leaseNow(plane()),
      kept: await resourceVersionOf(plane(), 'kept'),
    }
    const refusedBefore = await refusals()
    const startedAtMs = performance.now()
    const { odd: others } = await whileAsking(
      () => body('kept'),
      '"kept"',
      async () => {
        await plane().apply([LEVEL, SCHEMA])
        const giveBack = await takeThePlace(plane(), home.kubeconfig)
        try {
          const requestsBefore = await requests()
          await eventually(async () => {
            expect((await refusals()) - refusedBefore).toBeGreaterThan(1)
          }, PATIENCE)
          await untilFollowing(operator)
          // No replica leads: what comes now is seen, and waits.
          const syncs = odd.fake.syncs.length
          await apply('changing', 'while there was no room')
          await apply('new', 'while there was no room')
          const seconds = (performance.now() - startedAtMs) / 1000
          const made = (await requests()) - requestsBefore
          expect(made / seconds).toBeLessThan(20)
          expect(odd.fake.syncs.length).toBe(syncs)
          expect(odd.deletes()).toEqual([])
        } finally {
          giveBack()
          for (const [kind, name] of [
            ['flowschemas', NAME],
            ['prioritylevelconfigurations', NAME],
          ])
            await plane().request({
              method: 'DELETE',
              path: `/apis/${FLOW}/${String(kind)}/${String(name)}`,
            })
        }
        await untilLeading(operator)
      },
    )
    expect(others).toEqual([])
    for (const name of ['changing', 'new']) {
      await home.until('shop', name, 'Ready', 'Ready')
      expect(await body(name)).toBe('"while there was no room"')
      const { programmedDigest } = await home.status('apispecifications', 'shop', name)
      expect(odd.digest(name)).toBe(programmedDigest)
    }
    expect(odd.deletes()).toEqual([])
    expect({
      lease: await leaseNow(plane()),
      kept: await resourceVersionOf(plane(), 'kept'),
    }).toEqual(before)
  })
})
