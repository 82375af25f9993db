// Events told to a real API server, as the operator's own account, which may create and patch them and not even read.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import type { EventFacts } from '../../../operator/kubernetes/events/object.ts'
import { EventRecorder } from '../../../operator/kubernetes/events/recorder.ts'
import { createSilentLog, type Log } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { applyDefinitions, makeNamespace, operatorApi } from './operator-api.ts'

const NAMESPACE = 'team'
const PATIENT = { withinMs: 30_000, everyMs: 50 }
const TEST_MS = 120_000

await describeWithKubernetes('events in an API server', (plane) => {
  let api: KubernetesApi

  beforeAll(async () => {
    await applyDefinitions(plane())
    const account = { serviceAccount: 'svc-operator', operatorNamespace: 'gateway-system' }
    api = await operatorApi(plane(), { ...account, namespaces: [NAMESPACE] })
    await makeNamespace(plane(), 'elsewhere')
  }, RESTART_MS)

  afterAll(async () => {
    await api.close()
  })

  const aRecorder = (log: Log = createSilentLog()): EventRecorder => {
    const recorder = new EventRecorder({
      api,
      clock: SYSTEM_CLOCK,
      log,
      reporter: { controller: 'gateway.svc.dev/operator', instance: 'operator-1' },
    })
    recorder.start()
    return recorder
  }

  const anEvent = (name: string, more: Partial<EventFacts> = {}, namespace = NAMESPACE) => ({
    regarding: {
      apiVersion: 'gateway.svc.dev/v1alpha1',
      kind: 'ApiSpecification',
      namespace,
      name,
      uid: `uid-${name}`,
    },
    ...({
      type: 'Normal',
      reason: 'Programmed',
      action: 'Load',
      note: 'generation 1: valid',
    } as const),
    ...more,
  })

  const eventsOf = async (name: string) => {
    const path = `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`
    const { items } = demand(await plane().request({ path })).json() as {
      readonly items: readonly {
        readonly regarding: { readonly name: string }
        readonly reason: string
        readonly note: string
        readonly series?: { readonly count: number }
      }[]
    }
    return items.filter(({ regarding }) => regarding.name === name)
  }

  it(
    'kubectl describe tells what happened, and how often',
    async () => {
      await plane().apply([
        {
          apiVersion: 'gateway.svc.dev/v1alpha1',
          kind: 'ApiSpecification',
          metadata: { namespace: NAMESPACE, name: 'shop' },
          spec: { document: { id: 'shop', host: '_', realm_uri: 'com.shop' } },
        },
      ])
      const { json } = demand(
        await plane().request({
          path: `/apis/gateway.svc.dev/v1alpha1/namespaces/${NAMESPACE}/apispecifications/shop`,
        }),
      )
      const { uid } = (json() as { readonly metadata: { readonly uid: string } }).metadata
      const recorder = aRecorder()
      const regarding = { ...anEvent('shop').regarding, uid }
      recorder.record(anEvent('shop', { regarding }))
      await eventually(() => {
        expect(recorder.facts.sent).toBe(1)
      }, PATIENT)
      recorder.record(anEvent('shop', { regarding }))
      recorder.record(
        anEvent('shop', { regarding, type: 'Warning', reason: 'LoadFailed', note: 'refused: x' }),
      )
      await eventually(() => {
        expect(recorder.facts.sent).toBe(3)
      }, PATIENT)
      expect(await eventsOf('shop')).toMatchObject([
        { reason: 'Programmed', note: 'generation 1: valid', series: { count: 2 } },
        { reason: 'LoadFailed', note: 'refused: x' },
      ])
      const described = await plane().kubectl(['describe', 'apispec', 'shop', '-n', NAMESPACE])
      expect(described.stdout).toMatch(/Normal\s+Programmed\s+.*generation 1: valid/)
      expect(described.stdout).toMatch(/Warning\s+LoadFailed\s+.*refused: x/)
      recorder.stop()
    },
    TEST_MS,
  )

  it(
    'whatever the words, the API takes them',
    async () => {
      const recorder = aRecorder()
      const name = `${'a'.repeat(200)}.${'b'.repeat(52)}`
      recorder.record(anEvent(name, { note: '😀'.repeat(2_000), action: 'x'.repeat(300) }))
      recorder.record(anEvent(name, { note: '', reason: 'y'.repeat(300) }))
      await eventually(() => {
        expect(recorder.facts).toEqual({ queued: 0, sent: 2, dropped: 0 })
      }, PATIENT)
      recorder.stop()
    },
    TEST_MS,
  )

  it(
    'where it may not, it says so once and goes on',
    async () => {
      const lines: string[] = []
      const log: Log = { ...createSilentLog(), warn: (message) => lines.push(message) }
      const recorder = aRecorder(log)
      recorder.record(anEvent('a', {}, 'elsewhere'))
      recorder.record(anEvent('b', {}, 'elsewhere'))
      recorder.record(anEvent('c', {}, 'nowhere'))
      recorder.record(anEvent('d'))
      await eventually(() => {
        expect(recorder.facts).toEqual({ queued: 0, sent: 1, dropped: 3 })
      }, PATIENT)
      expect(lines).toHaveLength(1)
      expect(await eventsOf('d')).toHaveLength(1)
      recorder.stop()
    },
    TEST_MS,
  )
})
