// Routers that go, hang or are cut off, and come back: what waits is settled at once, what is held is held again,
// and no session is left behind. Runs last, as it ends every session.

import { isList, type Value } from '../../../../language/expression/value.ts'
import { MESSAGE, type SerializerName } from '../../../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../../../support/eventually.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { openRawPeer, type RawPeer } from '../../../support/raw-wamp-peer.ts'
import { OPEN_REALM } from '../../../support/routers/router-config.ts'
import type { RouterUnderTest } from '../../../support/routers/router-under-test.ts'
import { startTcpRelay, type TcpRelay } from '../../../support/tcp-relay.ts'
import { call, publish, register } from '../../../support/wamp-peer.ts'
import { everyOf } from '../../../dataplane/wamp/every-of.ts'
import { ABLE_CALLEE, ABLE_CALLER, errorOf } from '../../router/contract-case.ts'
import type { BridgeCase, BridgeContext } from '../bridge-case.ts'
import {
  type BridgeRig,
  type BridgeRigOptions,
  callBy,
  follow,
  type Followed,
  type Settled,
  startCall,
  within,
} from '../bridge-rig.ts'
import { idleFor, KEEPALIVE_MS, LOOK_MS } from './idle-connection.ts'
import { sessionCount } from './session-cases.ts'

const NET_FAILURE = 'wamp.error.net_failure'
const TRANSPORTS = ['ws', 'rawsocket'] as const

/** One bridge over WebSocket and one over RawSocket. */
const perTransport = (observed: unknown): unknown => ({ ws: observed, rawsocket: observed })

const CAME_BACK = {
  pending: NET_FAILURE,
  meanwhile: NET_FAILURE,
  isInTime: true,
  held: { args: ['held'] },
  told: ['followed', 'interrupted', 'resumed'],
  events: [['after']],
}

const SHUTDOWN = 'wamp.close.system_shutdown'

/** @param told what two sessions that are none of the bridge's hear last, by WebSocket and by RawSocket */
const restartOf = (told: readonly string[]): unknown => ({
  ...(perTransport(CAME_BACK) as object),
  leaked: 0,
  others: { told, after: 'wamp.error.no_such_procedure' },
})

const TAKEN_BACK = {
  removed: 'yes',
  isKicked: true,
  told: ['followed', 'interrupted', 'resumed'],
  held: { args: ['held'] },
  events: [['after']],
}
const NOT_TAKEN = {
  ...TAKEN_BACK,
  removed: 'wamp.error.no_such_procedure',
  isKicked: false,
  told: ['followed'],
}

const NOTICED = {
  pending: NET_FAILURE,
  settledOnce: true,
  told: ['followed', 'interrupted', 'resumed'],
  again: true,
}

export const FAULT_CASES: readonly BridgeCase[] = [
  {
    name: 'frozen connections are noticed within the keepalive',
    same: perTransport(NOTICED),
    run: (context) => {
      const clock = createManualClock()
      const options = { keepalive: KEEPALIVE_MS, every: everyOf(clock) }
      return behindRelays(context, options, async (relay) => {
        relay.freeze()
        // Something may still have been on its way: it begins anew with that.
        await clock.run(KEEPALIVE_MS + LOOK_MS)
        relay.thaw()
      })
    },
  },
  {
    name: 'connections that are cut are noticed at once',
    same: perTransport(NOTICED),
    run: (context) =>
      behindRelays(context, {}, async (relay, settled) => {
        relay.cut()
        await within(3000, settled)
      }),
  },
  {
    name: 'idle connections are kept, for longer than the keepalive',
    same: perTransport({ told: ['followed'], answered: 6 }),
    run: async (context) => {
      const observed: Record<string, unknown> = {}
      for (const transport of TRANSPORTS) observed[transport] = await idleFor(context, transport)
      return observed
    },
  },
  {
    name: 'closed while calls are pending: they fail, and the session is gone',
    same: { pending: NET_FAILURE, left: 0 },
    run: async ({ bridge, open, uri }) => {
      const callee = await open()
      const before = await sessionCount(callee)
      const rig = await bridge()
      const asked = Promise.withResolvers<undefined>()
      await register(callee, uri, () => {
        asked.resolve(undefined)
        return undefined
      })
      const pending = callBy(rig.client, uri)
      await asked.promise
      await rig.close()
      const settled = errorOf(await within(5000, pending))
      // A router may answer GOODBYE before it counts the session out.
      const left = await eventually(async () => {
        const now = (await sessionCount(callee)) - before
        if (now !== 0) throw new Error(`${now} sessions are left`)
        return now
      })
      return { pending: settled, left }
    },
  },
  {
    name: 'what the router takes back is made again',
    each: { embedded: NOT_TAKEN, nexus: NOT_TAKEN, crossbar: TAKEN_BACK },
    run: takenBack,
  },
  {
    name: 'SIGTERM and back on the same ports',
    each: {
      embedded: restartOf([SHUTDOWN, SHUTDOWN]),
      nexus: restartOf([SHUTDOWN, SHUTDOWN]),
      crossbar: restartOf(['nothing', 'nothing']),
    },
    run: (context) => restarted(context, {}),
  },
  {
    name: 'kill -9 and back on the same ports',
    same: restartOf(['nothing', 'nothing']),
    run: (context) => restarted(context, { kill: true }),
  },
]

/**
 * A subscription by a meta procedure, a registration by another callee that insists: what Crossbar has. (Its
 * `wamp.registration.remove_callee` fails half-way, and tells the callee nothing.)
 */
async function takenBack({ bridge, peer, open, uri }: BridgeContext): Promise<unknown> {
  const rig = await bridge()
  const activity = (): boolean => rig.status().durable.every(({ isActive }) => isActive)
  const handler = () => Promise.resolve({ args: ['held'], kwargs: {} })
  await rig.client.register({ procedure: `${uri}.held`, options: {}, handler, callback: 'x' })
  const followed = await follow(rig.client, `${uri}.topic`)
  const removed = await removeSubscriber(peer, `${uri}.topic`)
  if (removed === 'yes') await followed.until('resumed')

  const intruder = await open()
  const kicked = await register(intruder, `${uri}.held`, () => ({ args: ['intruder'] }), {
    force_reregister: true,
  })
  const isKicked = 'id' in kicked
  await eventually(() => {
    if (activity() === isKicked) throw new Error('not told yet')
  })
  intruder.close()
  await eventually(() => {
    if (!activity()) throw new Error('not active again')
  })
  const held = await call(peer, `${uri}.held`)
  await publish(peer, `${uri}.topic`, { args: ['after'] })
  const events = await eventsOf(followed)
  return { removed, isKicked, told: [...followed.told], held, events }
}

/** 'yes', or the error. */
const removeSubscriber = async (peer: RawPeer, topic: string): Promise<Value> => {
  const ask = async (procedure: string, ...args: readonly Value[]): Promise<Value> => {
    const outcome = await call(peer, `wamp.subscription.${procedure}`, { args })
    if ('error' in outcome) return outcome.error
    return isList(outcome.args) ? (outcome.args[0] ?? 'yes') : 'yes'
  }
  const id = await ask('lookup', topic)
  const sessions = await ask('list_subscribers', id)
  return await ask('remove_subscriber', id, isList(sessions) ? (sessions[0] ?? 0) : 0)
}

const eventsOf = ({ events }: Followed): Promise<unknown> =>
  eventually(() => {
    if (events.length === 0) throw new Error('no event yet')
    return events.map(({ args }) => args)
  })

interface Watched {
  readonly rig: BridgeRig
  readonly followed: Followed
  readonly pending: ReturnType<typeof startCall>
}

/** A bridge that follows, holds and waits for something: its callee has been asked. */
const watch = async (
  { bridge, open, uri }: Pick<BridgeContext, 'bridge' | 'open' | 'uri'>,
  options: BridgeRigOptions,
): Promise<Watched> => {
  const rig = await bridge(options)
  const asked = Promise.withResolvers<undefined>()
  await register(await open(), `${uri}.never`, () => {
    asked.resolve(undefined)
    return undefined
  })
  const handler = () => Promise.resolve({ args: ['held'], kwargs: {} })
  await rig.client.register({ procedure: `${uri}.held`, options: {}, handler, callback: 'x' })
  const followed = await follow(rig.client, `${uri}.topic`)
  const pending = startCall(rig.client, `${uri}.never`)
  await asked.promise
  return { rig, followed, pending }
}

const behindRelays = async (
  { bridge, open, router, uri }: BridgeContext,
  options: BridgeRigOptions,
  trouble: (relay: TcpRelay, settled: Promise<Settled>) => Promise<void>,
): Promise<unknown> => {
  const observed: Record<string, unknown> = {}
  for (const transport of TRANSPORTS) {
    await using relay = await startTcpRelay(Number(new URL(router[transport]).port))
    const own = `${uri}.${transport}`
    const url = throughRelay(router[transport], relay)
    const { rig, followed, pending } = await watch({ bridge, open, uri: own }, { ...options, url })
    await trouble(relay, pending.settled)
    const settled = errorOf(await within(0, pending.settled))
    await followed.until('resumed')
    const again = 'args' in (await callBy(rig.client, 'wamp.session.count'))
    const told = [...followed.told]
    observed[transport] = { pending: settled, settledOnce: pending.times() === 1, told, again }
    await rig.close()
  }
  return observed
}

const throughRelay = (url: string, relay: TcpRelay): string => {
  const { port } = new URL(url)
  return url.replace(`:${port}`, `:${relay.port}`)
}

const SERIALIZER: Readonly<Record<(typeof TRANSPORTS)[number], SerializerName>> = {
  ws: 'json',
  rawsocket: 'msgpack',
}

const restarted = async (
  { bridge, open, router, uri, leaveAlone }: BridgeContext,
  how: { readonly kill?: boolean },
): Promise<unknown> => {
  await leaveAlone()
  const countSessions = async (): Promise<number> => {
    await using peer = await openRawPeer({ url: router.rawsocket, realm: OPEN_REALM })
    return await sessionCount(peer)
  }
  // Crossbar's own services have sessions too. An end is heard of later.
  const before = await steady(countSessions)
  const others = [
    await open({ url: router.ws, roles: ABLE_CALLER }),
    await open({ url: router.rawsocket, roles: ABLE_CALLER }),
  ]
  for (const [index, peer] of others.entries()) await register(peer, `${uri}.p${index}`, () => ({}))
  const watched = new Map<string, Watched>()
  for (const transport of TRANSPORTS) {
    const wire = { url: router[transport], serializers: [SERIALIZER[transport]] }
    watched.set(transport, await watch({ bridge, open, uri: `${uri}.${transport}` }, wire))
  }
  await router.stop(how)
  const lost = new Map<string, unknown>()
  for (const [transport, { rig, pending }] of watched) {
    const settled = errorOf(await within(5000, pending.settled))
    const meanwhile = errorOf(await callBy(rig.client, 'wamp.session.count'))
    lost.set(transport, { pending: settled, meanwhile })
  }
  const told = await Promise.all(others.map(lastWord))
  await router.restart()
  const after = errorOf(await call(await open(), `${uri}.p0`))
  const observed: Record<string, unknown> = {}
  const backs = [...watched].map(async ([transport, parts]) => {
    observed[transport] = {
      ...(lost.get(transport) as object),
      ...(await back(router, `${uri}.${transport}`, parts)),
    }
  })
  await Promise.all(backs)
  // The one that looked for `after` is still there.
  const leaked = (await steady(countSessions)) - before - watched.size - 1
  return { ...observed, leaked, others: { told, after } }
}

/** Of the router to a session that was open when it went. */
const lastWord = async (peer: RawPeer): Promise<unknown> => {
  if (!(await peer.endsWithin(15_000))) return 'the connection is still open'
  const goodbye = peer.unread.find(([type]) => type === MESSAGE.goodbye)
  return goodbye === undefined ? 'nothing' : goodbye[2]
}

/** The number, once it has been the same for a while. */
const steady = async (count: () => Promise<number>): Promise<number> => {
  let last = NaN
  return await eventually(
    async () => {
      const before = last
      last = await count()
      if (last !== before) throw new Error(`${before} and then ${last}`)
      return last
    },
    { everyMs: 100 },
  )
}

/** Of two seconds, 10 ms apart: what holds up the machine holds them up too. */
const BACK_LOOKS = 200

/** A call by the bridge succeeds in time; what it holds can be used by others. */
const back = async (
  router: RouterUnderTest,
  uri: string,
  { rig, followed }: Watched,
): Promise<object> => {
  const isInTime = await eventually(
    async () => {
      const settled: Settled = await callBy(rig.client, 'wamp.session.count')
      if ('error' in settled) throw new Error(settled.error)
      return true
    },
    { looks: BACK_LOOKS, everyMs: 10 },
  ).catch(() => false)
  await followed.until('resumed')
  await using peer = await openRawPeer({
    url: router.rawsocket,
    realm: OPEN_REALM,
    roles: ABLE_CALLEE,
  })
  const held = await eventually(async () => {
    const outcome = await call(peer, `${uri}.held`)
    if ('error' in outcome) throw new Error(outcome.error)
    return outcome
  })
  await publish(peer, `${uri}.topic`, { args: ['after'] })
  const events = await eventsOf(followed)
  return { isInTime, held, told: [...followed.told], events }
}
