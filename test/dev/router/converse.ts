// Plays a script of what clients say to the router's core, and records what it says to whom, in order. Time stands
// still until the script moves it, and chance is a counter.

import { createRouterCore, type RouterCore } from '../../../dev/router/router-core.ts'
import type { RealmOptions } from '../../../dev/router/router-options.ts'
import type { RouterDeps } from '../../../dev/router/router-deps.ts'
import { MESSAGE, type WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

export type Step =
  /** A client says so. */
  | readonly [client: string, message: WampMessage]
  | { readonly passMs: number }
  /** Its connection is lost. */
  | { readonly lost: string }
  /** What it sent could not be read. */
  | { readonly unreadable: string }

/** What a client is told; `closed`: its connection is ended by the router. */
export type Told = readonly [client: string, message: WampMessage | 'closed']

const ALL_FEATURES: ValueMap = {
  caller: {},
  callee: {
    features: {
      call_canceling: true,
      caller_identification: true,
      progressive_call_results: true,
    },
  },
  publisher: {},
  subscriber: { features: { publisher_identification: true } },
}

/** Without INTERRUPT, as autobahn is. */
export const PLAIN_ROLES: ValueMap = { caller: {}, callee: {}, publisher: {}, subscriber: {} }

/**
 * The clients have joined the realm `r` one after the other. Ids that are drawn are 1001, 1002, …: the first client's
 * session and authid, the second's, …, then those of publications.
 */
export const converse = (
  clients: Readonly<Record<string, ValueMap | undefined>>,
  steps: readonly Step[],
  options: Partial<RealmOptions> = {},
): readonly Told[] => {
  const stage = createStage([{ uri: 'r', anonymous: true, ...options }])
  for (const [client, roles = ALL_FEATURES] of Object.entries(clients)) {
    stage.run([client, [MESSAGE.hello, 'r', { roles }]])
  }
  stage.told.length = 0
  for (const step of steps) stage.run(step)
  return stage.told
}

export interface Stage {
  readonly core: RouterCore
  readonly told: Told[]
  readonly run: (step: Step) => void
}

/** @param carries false: a message that the client cannot be sent */
export const createStage = (
  realms: readonly RealmOptions[],
  carries: (client: string, message: WampMessage) => boolean = () => true,
): Stage => {
  const told: Told[] = []
  const { deps, pass } = standStill()
  const core = createRouterCore(realms, deps)
  const lost = new Set<string>()
  const inlets = new Map<string, ReturnType<RouterCore['accept']>>()
  const inletOf = (client: string): ReturnType<RouterCore['accept']> => {
    const known = inlets.get(client)
    if (known !== undefined) return known
    const inlet = core.accept({
      send: (message) => {
        if (!carries(client, message)) return false
        told.push([client, message])
        return true
      },
      close: () => {
        if (!lost.has(client)) told.push([client, 'closed'])
      },
    })
    inlets.set(client, inlet)
    return inlet
  }
  const run = (step: Step): void => {
    if ('passMs' in step) pass(step.passMs)
    else if ('lost' in step) {
      lost.add(step.lost)
      inletOf(step.lost).gone()
    } else if ('unreadable' in step) inletOf(step.unreadable).refuse('no JSON')
    else inletOf(step[0]).receive(step[1])
  }
  return { core, told, run }
}

/** Time that only `pass` moves. */
const standStill = (): { deps: RouterDeps; pass: (ms: number) => void } => {
  let nowMs = 0
  let drawn = 999
  const timers = new Map<object, { readonly dueMs: number; readonly run: () => void }>()
  const deps: RouterDeps = {
    now: () => new Date(nowMs),
    randomBytes: (count) => {
      const bytes = Buffer.alloc(count)
      bytes.writeUInt32BE(++drawn, count - 4)
      return bytes
    },
    schedule: (delayMs, run) => {
      const key = {}
      timers.set(key, { dueMs: nowMs + delayMs, run })
      return () => timers.delete(key)
    },
  }
  const pass = (ms: number): void => {
    nowMs += ms
    for (const [key, { dueMs, run }] of [...timers]) {
      if (dueMs > nowMs) continue
      timers.delete(key)
      run()
    }
  }
  return { deps, pass }
}
