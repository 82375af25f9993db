// Leadership by a Lease on a real API server, as the operator's own account, which may get, create and update Leases in
// its own namespace and nothing else of them.

import { afterEach, beforeAll, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { type KubernetesApi, TYPES } from '../../../operator/kubernetes/client/api.ts'
import { createLeaseLeadership } from '../../../operator/kubernetes/leader-election/election.ts'
import type { LeaseLeadership } from '../../../operator/kubernetes/leader-election/leadership.ts'
import { LEASE_FORMAT } from '../../../operator/resource/lease-format.ts'
import type { EpochSource } from '../../../operator/epoch.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { untilForbidden, untilGranted, userOf } from '../../support/kubernetes/access-review.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { makeNamespace, operatorApi } from './operator-api.ts'

const NAMESPACE = 'gateway-system'
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`
/** Less than in a cluster, and as far apart. */
const TIMES = { durationMs: 6_000, renewDeadlineMs: 4_000, retryMs: 600 }
const PATIENT = { withinMs: 60_000, everyMs: 20 }
const TEST_MS = 120_000

interface Candidate {
  readonly leadership: LeaseLeadership
  /** Epochs of its turns. */
  readonly turns: number[]
  epochSource: EpochSource | undefined
}

interface LeaseObject {
  readonly metadata: { readonly uid: string; readonly annotations?: Record<string, string> }
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number }
}

await describeWithKubernetes('a Lease of an API server', (plane) => {
  const apis: KubernetesApi[] = []
  const running: Candidate[] = []
  let names = 0

  beforeAll(async () => {
    await makeNamespace(plane(), NAMESPACE)
  }, RESTART_MS)

  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ leadership }) => leadership.stop()))
    await Promise.all(apis.splice(0).map((api) => api.close()))
  })

  const anApi = async (serviceAccount = 'svc-operator'): Promise<KubernetesApi> => {
    const api = await operatorApi(plane(), {
      serviceAccount,
      operatorNamespace: NAMESPACE,
      namespaces: [NAMESPACE],
    })
    apis.push(api)
    return api
  }

  /** As a chart installs it. */
  const aFreeLease = async (): Promise<string> => {
    const name = `lease-${(names += 1)}`
    demand(
      await plane().request({
        method: 'POST',
        path: LEASES,
        body: { metadata: { name }, spec: {} },
      }),
    )
    return name
  }

  const theLease = async (name: string): Promise<LeaseObject> =>
    demand(await plane().request({ path: `${LEASES}/${name}` })).json() as LeaseObject

  const aCandidate = async (
    name: string,
    identity: string,
    api: KubernetesApi,
  ): Promise<Candidate> => {
    const leadership = createLeaseLeadership({
      api,
      namespace: NAMESPACE,
      name,
      format: LEASE_FORMAT,
      identity,
      clock: SYSTEM_CLOCK,
      log: createSilentLog(),
      ...TIMES,
    })
    const candidate: Candidate = { leadership, turns: [], epochSource: undefined }
    running.push(candidate)
    await leadership.start({
      onLead: (epochSource) => {
        candidate.epochSource = epochSource
        candidate.turns.push(epochSource.epoch('gateway'))
      },
      onLose: () => {
        candidate.epochSource = undefined
      },
    })
    return candidate
  }

  const leads = (candidate: Candidate): Promise<EpochSource> =>
    eventually(() => {
      if (candidate.epochSource === undefined) throw new Error('it does not lead')
      return candidate.epochSource
    }, PATIENT)

  /** A machine that stands still for a moment may cost a turn, which is then taken again under the same epoch. */
  const epochsOf = ({ turns }: Candidate): readonly number[] => [...new Set(turns)]

  it(
    'is handed on, with an epoch that rises',
    async () => {
      const name = await aFreeLease()
      const api = await anApi()
      const first = await aCandidate(name, 'first', api)
      await leads(first)
      const second = await aCandidate(name, 'second', await anApi())
      await eventually(async () => {
        expect(second.leadership.facts.holder).toBe(first.leadership.facts.identity)
        expect((await theLease(name)).spec.holderIdentity).toMatch(/^first_/)
      }, PATIENT)
      expect(second.turns).toEqual([])
      await first.leadership.stop()
      await leads(second)
      expect([epochsOf(first), epochsOf(second)]).toEqual([[1], [2]])
      await second.leadership.stop()
      expect((await theLease(name)).spec).toMatchObject({ holderIdentity: '', leaseTransitions: 2 })
    },
    TEST_MS,
  )

  it(
    'is made where there is none, and again by its holder when it is deleted',
    async () => {
      const name = `lease-${(names += 1)}`
      const api = await anApi()
      const [first, second] = [await aCandidate(name, 'a', api), await aCandidate(name, 'b', api)]
      const [leader, other] = await eventually(() => {
        if (first.epochSource !== undefined) return [first, second] as const
        if (second.epochSource !== undefined) return [second, first] as const
        throw new Error('no replica leads')
      }, PATIENT)
      const { uid } = (await theLease(name)).metadata
      demand(await plane().request({ method: 'DELETE', path: `${LEASES}/${name}` }))
      await eventually(async () => {
        const { metadata, spec } = await theLease(name)
        expect(metadata.uid).not.toBe(uid)
        expect(spec).toMatchObject({
          holderIdentity: leader.leadership.facts.identity,
          leaseTransitions: 1,
        })
      }, PATIENT)
      expect([epochsOf(leader), other.turns]).toEqual([[1], []])
    },
    TEST_MS,
  )

  it(
    'holds an epoch that an int32 can not hold, and the next holder is above it',
    async () => {
      const name = await aFreeLease()
      const api = await anApi()
      const first = await aCandidate(name, 'first', api)
      const epochSource = await leads(first)
      expect(await epochSource.challenge(41, 'gateway')).toBe(true)
      expect((await theLease(name)).spec.leaseTransitions).toBe(42)
      expect(await epochSource.challenge(1_795_000_000_000, 'gateway')).toBe(true)
      expect(epochSource.epoch('gateway')).toBe(1_795_000_000_001)
      expect(await theLease(name)).toMatchObject({
        metadata: { annotations: { 'gateway.svc.dev/epoch': '1795000000001' } },
        spec: { leaseTransitions: 42 },
      })
      await first.leadership.stop()
      const second = await aCandidate(name, 'second', api)
      expect((await leads(second)).epoch('gateway')).toBe(1_795_000_000_002)
    },
    TEST_MS,
  )

  it(
    'is lost when the API server stands still, and taken again under the same epoch',
    async () => {
      const name = await aFreeLease()
      const candidate = await aCandidate(name, 'only', await anApi())
      await leads(candidate)
      await plane().pause()
      try {
        await eventually(() => {
          expect(candidate.epochSource).toBeUndefined()
        }, PATIENT)
        expect(candidate.leadership.isLeading).toBe(false)
      } finally {
        plane().resume()
      }
      await leads(candidate)
      expect(epochsOf(candidate)).toEqual([1])
      expect(candidate.turns.length).toBeGreaterThanOrEqual(2)
    },
    TEST_MS,
  )

  it(
    'is not led by an account that may not, and the reason is logged',
    async () => {
      const name = await aFreeLease()
      const api = await anApi('stranger')
      const access = {
        user: userOf(NAMESPACE, 'stranger'),
        verb: 'get',
        namespace: NAMESPACE,
        group: 'coordination.k8s.io',
        resource: 'leases',
      }
      await untilGranted(plane(), access)
      const binding = `svc-gateway-operator:${NAMESPACE}:stranger`
      const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`
      demand(await plane().request({ method: 'DELETE', path: `${bindings}/${binding}` }))
      await untilForbidden(plane(), access)
      const candidate = await aCandidate(name, 'stranger', api)
      await eventually(() => {
        expect(candidate.leadership.facts.failure).toMatch(/forbidden/i)
      }, PATIENT)
      expect(candidate.turns).toEqual([])
    },
    TEST_MS,
  )

  it(
    'is not made by a PUT that comes late: it names the uid',
    async () => {
      const api = await anApi()
      const lease = (name: string, metadata: object) => ({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: NAMESPACE, resourceVersion: '1', ...metadata },
        spec: { holderIdentity: 'ghost' },
      })
      const put = (name: string, metadata: object) =>
        api.replace(TYPES.leases, { namespace: NAMESPACE, name }, lease(name, metadata))
      await expect(
        put('ghost-1', { uid: '6d9f0b5e-0000-0000-0000-000000000000' }),
      ).rejects.toMatchObject({ status: 409 })
      // What it would do without: the reason why every write names it.
      await expect(put('ghost-2', {})).resolves.toMatchObject({ spec: { holderIdentity: 'ghost' } })
    },
    TEST_MS,
  )
})
