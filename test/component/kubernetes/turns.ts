// Observes operators and their Lease: who leads, since which epoch, and what was sent to data planes meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE_FORMAT } from '../../../operator/resource/lease-format.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { OPERATOR_NAMESPACE } from './home.ts'
import type { OperatorProcess } from './operator-process.ts'

/** A Lease lasts 15 s, and a busy machine takes its time. */
export const A_LEASE_LATER = { withinMs: 90_000, everyMs: 50 }

export interface LeaseNow {
  readonly uid: string
  /** Empty: no replica. */
  readonly holder: string
  readonly epoch: number
}

const leasePath = (name: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/${name}`

export const leaseNow = async (plane: ControlPlane, name = 'svc-operator'): Promise<LeaseNow> => {
  const { metadata, spec } = demand(
    await plane.request({ path: leasePath(name) }),
  ).json() as LeaseObject
  const annotated = Number(metadata.annotations?.[LEASE_FORMAT.epochAnnotation] ?? 0)
  return {
    uid: metadata.uid,
    holder: spec.holderIdentity ?? '',
    epoch: Math.max(spec.leaseTransitions ?? 0, annotated),
  }
}

interface LeaseObject {
  readonly metadata: {
    readonly uid: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number }
}

export const deleteLease = async (plane: ControlPlane, name = 'svc-operator'): Promise<void> => {
  demand(await plane.request({ method: 'DELETE', path: leasePath(name) }))
}

/** Without a holder, as a chart makes it: where there is none, a first operator waits as for one that was deleted. */
export const makeFreeLease = (plane: ControlPlane, name: string): Promise<void> =>
  plane.apply([
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: OPERATOR_NAMESPACE },
    },
  ])

/** What its holder would have done if it had ended in order: none has to wait until it expires. */
export const releaseLease = async (plane: ControlPlane, name = 'svc-operator'): Promise<void> => {
  const body = { spec: { holderIdentity: '' } }
  demand(await plane.request({ method: 'PATCH', path: leasePath(name), body }), 404)
}

export const untilLeading = (operator: OperatorProcess): Promise<void> =>
  eventually(async () => {
    if (!(await operator.isLeading())) {
      throw new Error(`it does not lead:\n${operator.logs().slice(-15).join('\n')}`)
    }
  }, A_LEASE_LATER)

export const untilFollowing = (operator: OperatorProcess): Promise<void> =>
  eventually(async () => {
    if (await operator.isLeading()) throw new Error('it still leads')
  }, A_LEASE_LATER)

/** Of a gateway or an operator: the sum of all series of a name that have these labels. */
export const metricOf = async (url: string, name: string, labels = ''): Promise<number> => {
  const { text } = await request(`${url}/metrics`)
  return text
    .split('\n')
    .filter((line) => new RegExp(`^${name}[{ ]`).test(line) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** Documents and realms that were ever put into a gateway or deleted from it, unchanged ones too. */
export const loadsOf = ({ management }: GatewayProcess): Promise<number> =>
  metricOf(management, 'svc_gateway_loads_total')

/** Times at which it was asked what it holds. */
const observationsOf = ({ calls }: FakeDataPlane): number =>
  calls.filter(({ sync }) => sync === undefined).length

/** Waits until a data plane has been asked once more, by the leader. */
export const untilObserved = (fake: FakeDataPlane): Promise<void> => {
  const before = observationsOf(fake)
  return eventually(() => {
    if (observationsOf(fake) <= before) throw new Error('no operator asks what it holds')
  }, A_LEASE_LATER)
}

/** Requests without a pause until the work is done: what was not answered as expected. */
export const whileAsking = async (
  ask: () => Promise<string>,
  expected: string,
  work: () => Promise<void>,
): Promise<{ readonly asked: number; readonly odd: readonly string[] }> => {
  const odd: string[] = []
  const done = new AbortController()
  let asked = 0
  const askOn = async (): Promise<void> => {
    while (!done.signal.aborted) {
      const response = await ask().catch((error: unknown) => String(error))
      asked += 1
      if (response !== expected) odd.push(response)
      await sleep(PAUSE_MS)
    }
  }
  const asking = askOn()
  try {
    await work()
  } finally {
    done.abort()
    await asking
  }
  return { asked, odd }
}

const PAUSE_MS = 10
