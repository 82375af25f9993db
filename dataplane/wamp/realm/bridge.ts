// Keeps sessions with the routers of the realms in use, as changes of what is served require, and gives out a client
// for each realm. It never blocks the caller that passes it a change, and never throws at it.

import { withTimeout } from '../../../base/timeout.ts'
import { BRIDGE_TIMES, secureRandom, type BridgeOptions, type BridgeSetup } from './bridge-setup.ts'
import { BridgeClient, type ClientDeps } from './client.ts'
import { RunningInvocations } from './durable/invocations.ts'
import type { RealmDeps } from './realm-bridge.ts'
import { RealmRegistry } from './realm-registry.ts'
import { Retirement } from './retirement.ts'
import type { WampBridge } from './wamp-client.ts'

/**
 * @example
 * const bridge = createBridge({ openLink, log, onStatus, releaseElsewhere })
 * bridge.follow({ put: [document], remove: [], realms: { put: [record], delete: [] } })
 * bridge.clientOf('com.acme').call({ procedure: 'com.acme.add', args, kwargs, options }, handler)
 */
export const createBridge = (options: BridgeOptions): WampBridge => {
  const deps = createDeps(options)
  const realms = new RealmRegistry(deps)
  let isClosed = false

  const releaseHere: WampBridge['releaseHere'] = (realmUri, kind, id) =>
    realms.find(realmUri).durable.release(kind, id)

  const clientDeps: ClientDeps = {
    find: (realmUri) => realms.find(realmUri),
    release: async (realmUri, kind, id) =>
      (await releaseHere(realmUri, kind, id)) ||
      (await options.releaseElsewhere(realmUri, kind, id)),
  }

  return {
    clientOf: (realmUri) => new BridgeClient(realmUri, clientDeps),
    follow: (change) => {
      if (isClosed) return
      for (const realm of realms.apply(change)) realm.updateLinks()
    },
    status: () => realms.all().flatMap((realm) => realm.status() ?? []),
    releaseHere,
    close: async () => {
      isClosed = true
      for (const realm of realms.all()) realm.close()
      const { closeMs } = deps.setup.times
      // The other half is for GOODBYE.
      const closed = deps.retirement.closeAll(closeMs / 2)
      await withTimeout(closed, { ms: closeMs, onTimeout: () => undefined })
    },
  }
}

const createDeps = (options: BridgeOptions): RealmDeps => {
  const times = { ...BRIDGE_TIMES, ...options.times }
  const setup: BridgeSetup = {
    openLink: options.openLink,
    log: options.log,
    random: options.random ?? secureRandom,
    times,
    noteStatus: oncePerTick(options.onStatus),
  }
  const invocations = new RunningInvocations()
  return { setup, invocations, retirement: new Retirement(times, invocations) }
}

const oncePerTick = (run: () => void): (() => void) => {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      run()
    })
  }
}
