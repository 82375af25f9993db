// Measures how long a new document takes to be served: documents are created one after the other, and every gateway is
// asked for each until it answers 200.

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayPod } from '../../component/kubernetes/home.ts'
import { probeHost, probeResource } from './documents.ts'
import type { Rig } from './rig.ts'
import { fetchOnce } from './steady-load.ts'

export interface Probed {
  /** From before the resource is created until the last gateway answered 200, in order of creation, ms. */
  readonly propagationMs: readonly number[]
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<number, number>
  /** Responses that were neither 404 before the first 200, nor 200 from then on. */
  readonly wrong: number
}

const POLL_MS = 2
const PATIENCE_MS = 60_000

export const probe = async (
  rig: Rig,
  documents: number,
  progress: (text: string) => void,
): Promise<Probed> => {
  const agent = new Agent({ keepAlive: true })
  const propagationMs: number[] = []
  const statuses = new Map<number, number>()
  let wrong = 0
  const ask = async (gateway: GatewayPod, index: number): Promise<number> => {
    const url = `${gateway.gateway.public}/${index}`
    const { status } = await fetchOnce(agent, { url, headers: { host: probeHost(index) } })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    return status
  }
  const untilServed = async (gateway: GatewayPod, index: number): Promise<void> => {
    const endMs = performance.now() + PATIENCE_MS
    for (;;) {
      const status = await ask(gateway, index)
      if (status === 200) return
      if (status !== 404) wrong += 1
      if (performance.now() > endMs) throw new Error(`document ${index} is not served: ${status}`)
      await sleep(POLL_MS)
    }
  }
  for (let index = 0; index < documents; index++) {
    if (index % 500 === 0) progress(`probe: ${index} of ${documents} documents`)
    const beganMs = performance.now()
    const served = rig.gateways.map((gateway) => untilServed(gateway, index))
    await rig.apply(probeResource(index, rig.upstreams[0]))
    await Promise.all(served)
    propagationMs.push(performance.now() - beganMs)
  }
  // What was served once stays served.
  for (const gateway of rig.gateways)
    for (let index = 0; index < documents; index++)
      if ((await ask(gateway, index)) !== 200) wrong += 1
  agent.destroy()
  return { propagationMs, statuses, wrong }
}
