// Composes the WAMP half of one serving process: the bridge with its links to routers, callbacks over HTTP, and what
// the actions of a version need of both.

import { randomUUID } from 'node:crypto'
import type { Log } from '../../telemetry/log.ts'
import { createCallbackPoster } from '../actions/wamp/callback/poster.ts'
import type { WampEnvironment } from '../actions/wamp/environment.ts'
import type { BridgePeers } from './cluster/process-status.ts'
import type { Confinements } from '../confinements.ts'
import { createDeadlines } from '../deadlines.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { Limiter } from '../../base/limiter.ts'
import { oncePer } from '../../base/once.ts'
import type { SpanOf } from '../request-spans.ts'
import type { RealmRegistry } from '../realm/realm-registry.ts'
import type { ServedVersion } from '../served.ts'
import { SYSTEM_CLOCK } from '../upstream/retry.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { createBridge } from '../wamp/realm/bridge.ts'
import { createLazyTransport } from '../wamp/transport/lazy-transport.ts'
import { createLinkOpener } from '../wamp/session/link.ts'
import type { RouterDial } from '../wamp/transport/router-dial.ts'
import type { WampBridge } from '../wamp/realm/wamp-client.ts'

export interface ServingWampOptions {
  readonly realms: RealmRegistry
  readonly upstream: Upstream
  readonly metrics: GatewayMetrics
  readonly log: Log
  readonly peers: BridgePeers
  readonly dial: RouterDial
  readonly memory: MemoryBudget
  readonly confinements: Pick<Confinements, 'of'>
  /** Undefined if nothing is traced. */
  readonly spanOf: SpanOf | undefined
}

export interface ServingWamp {
  readonly bridge: WampBridge
  environmentOf(version: ServedVersion): WampEnvironment
}

/** Opens no session until a document is loaded whose realm has a router. */
export const createServingWamp = (options: ServingWampOptions): ServingWamp => {
  const { realms, upstream, metrics, log, peers, dial, memory, confinements, spanOf } = options
  const openTransport = createLazyTransport(async () => {
    const { createTransportOpener } = await import('../wamp/transport/open-transport.ts')
    return createTransportOpener({ dial, memory })
  })
  const bridge: WampBridge = createBridge({
    openLink: createLinkOpener({ openTransport, log, random: Math.random }),
    log,
    onStatus: () => {
      peers.statusChanged(bridge.status())
    },
    releaseElsewhere: (realmUri, kind, id) => peers.releaseElsewhere({ realmUri, kind, id }),
  })
  gaugeBridge(metrics, bridge)
  const deadlines = createDeadlines()
  const callbacks = createCallbackPoster({
    upstream,
    clock: SYSTEM_CLOCK,
    wallClock: Date.now,
    newId: randomUUID,
    onLost: ({ isNews, ...loss }) => {
      metrics.count('callbacksLost', { why: loss.why })
      if (isNews) log.warn('events were lost: a callback does not accept them', loss)
    },
    memory,
  })
  // One per loaded version: it goes when the version's document is replaced.
  const callsOf = oncePer(({ poolSize }: ServedVersion) => new Limiter(poolSize))
  return {
    bridge,
    environmentOf: (version) => ({
      realmUri: version.realmUri,
      confinedTo: () => confinements.of(version),
      client: () => bridge.clientOf(version.realmUri),
      calls: callsOf(version),
      callTimeoutMs: () => realms.callTimeoutMs(version.realmUri),
      deadlines,
      callbacks,
      realm: () => realms.get(version.realmUri),
      spanOf,
    }),
  }
}

const gaugeBridge = (metrics: GatewayMetrics, bridge: WampBridge): void => {
  metrics.gauge('wampSessions', () =>
    bridge
      .status()
      .flatMap(({ realmUri, sessions }) =>
        countBy(sessions, ({ state }) => state).map(
          ([state, count]) => [{ realm: realmUri, state }, count] as const,
        ),
      ),
  )
  metrics.gauge('wampCallbacks', () =>
    bridge
      .status()
      .flatMap(({ realmUri, durable }) =>
        countBy(durable, ({ kind }) => kind).map(
          ([kind, count]) => [{ realm: realmUri, kind }, count] as const,
        ),
      ),
  )
}

const countBy = <T>(
  items: readonly T[],
  nameOf: (item: T) => string,
): readonly [string, number][] => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return [...counts]
}
