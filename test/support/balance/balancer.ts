// Starts a balancer of TCP connections (`balancer-program.ts`) and tells it where to lead them.

import { once } from 'node:events'
import { join } from 'node:path'
import { endProgram, type Place, startProgram } from './instance.ts'

export interface BalancerOrder {
  readonly places: readonly Place[]
}

export interface BalancerResponse {
  readonly kind: 'listening' | 'leads'
}

export interface Balancer extends AsyncDisposable {
  /** New connections go there; those that are open stay as they are. */
  readonly leadTo: (places: readonly Place[]) => Promise<void>
}

const PROGRAM = join(import.meta.dirname, 'balancer-program.ts')

/** At 127.0.0.1. */
export const startBalancer = async (port: number): Promise<Balancer> => {
  const child = await startProgram(PROGRAM, [String(port)])
  return {
    leadTo: async (places) => {
      const told = once(child, 'message')
      const plain = places.map((each) => ({ address: each.address, port: each.port }))
      child.send({ places: plain } satisfies BalancerOrder)
      await told
    },
    [Symbol.asyncDispose]: () => endProgram(child, 'SIGKILL'),
  }
}
