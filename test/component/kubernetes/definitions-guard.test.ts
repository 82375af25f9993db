// Ten documents deleted at once, and a clock of our own: what is held back goes when its time is over and a live list
// of the API server still lacks them. The parts are the operator's, with its account's rights; only time is not real.

import { expect, it, jest } from '@jest/globals'
import { type Clock, SYSTEM_CLOCK } from '../../../base/clock.ts'
import { Controller } from '../../../operator/controller/controller.ts'
import { createPodDataPlanes } from '../../../operator/source/pods.ts'
import { KubernetesSource } from '../../../operator/source/source.ts'
import { alwaysLeading } from '../../../operator/leadership.ts'
import { startEpoch } from '../../../operator/epoch.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aDocument, aRealm } from '../../support/kubernetes/odd-documents.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { applyDefinitions, makeNamespace, operatorApi } from './operator-api.ts'

jest.setTimeout(120_000)

const IDS = Array.from({ length: 10 }, (_, i) => `api-${i}`)
const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }

await describeWithKubernetes('the guard against mass deletes', (plane) => {
  it('lets go after its time, of what a live list lacks', async () => {
    await using open = new AsyncDisposableStack()
    await applyDefinitions(plane())
    for (const name of [OPERATOR_NAMESPACE, 'shop']) await makeNamespace(plane(), name)
    const api = await operatorApi(plane(), { ...ACCOUNT, namespaces: 'all' })
    open.defer(() => api.close())
    const time = { aheadMs: 0 }
    const clock: Clock = { ...SYSTEM_CLOCK, now: () => Date.now() + time.aheadMs }
    const shared = { api, clock, log: createSilentLog() }
    const dataPlanes = createPodDataPlanes({
      ...shared,
      namespaces: [OPERATOR_NAMESPACE],
      sidecarNamespaces: 'all',
      scheme: 'http',
    })
    const controller = new Controller({
      ...shared,
      source: new KubernetesSource({
        ...shared,
        namespaces: 'all',
        className: 'svc',
        account: ACCOUNT,
      }),
      fleet: {
        dataPlanes,
        manager: 'svc-operator',
        credentials: () => Promise.resolve({ tls: {} }),
      },
      leadership: alwaysLeading(startEpoch(() => clock.now())),
      validating: { className: 'svc' },
      onStatus: () => undefined,
    })
    open.defer(() => controller.stop())
    await controller.start()

    const odd = open.use(await startOddPod(plane(), { name: 'guarded' }))
    await plane().apply([aRealm(), ...IDS.map((id) => aDocument(id, 'one'))])
    await untilHeld(odd, IDS)
    await plane().kubectl(['delete', 'apispec', '--all', '-n', 'shop'])
    await untilPhase(controller, 'holding')
    // kubectl deletes one by one: the first few are not too many yet.
    const first = odd.deletes()
    expect(first.length).toBeLessThanOrEqual(5)
    // The last of them comes back: what the live list has is no delete.
    await plane().apply([aDocument('api-9', 'one'), aDocument('later', 'one')])
    await eventually(() => {
      expect([...odd.fake.specs.keys()]).toContain('later')
    }, PATIENCE)
    expect(odd.deletes()).toEqual(first)
    time.aheadMs += 61_000
    await untilHeld(odd, ['api-9', 'later'])
    expect([...odd.deletes()].sort()).toEqual(IDS.slice(0, 9))
    await untilPhase(controller, 'synced')
  })
})

const untilHeld = (odd: OddPod, ids: readonly string[]): Promise<void> =>
  eventually(() => {
    expect([...odd.fake.specs.keys()].sort()).toEqual([...ids].sort())
    expect(odd.fake.complete).toBe(true)
  }, PATIENCE)

const untilPhase = (controller: Controller, phase: string): Promise<void> =>
  eventually(() => {
    expect(controller.status.dataPlanes.map((each) => each.phase)).toEqual([phase])
  }, PATIENCE)
