// Sessions of the bridge: who is let in and as whom, what is said when it is not, how many there are, and what
// happens when the router ends one.

import type { Value } from '../../../../language/expression/value.ts'
import { CRYPTOSIGN_SEED } from '../../../support/routers/router-under-test.ts'
import { SECURED_REALM } from '../../../support/routers/router-config.ts'
import { eventually } from '../../../support/eventually.ts'
import type { RawPeer } from '../../../support/raw-wamp-peer.ts'
import { call, publish, register } from '../../../support/wamp-peer.ts'
import { errorOf } from '../../router/contract-case.ts'
import type { BridgeCase, BridgeContext } from '../bridge-case.ts'
import { type BridgeRigOptions, callBy, follow } from '../bridge-rig.ts'

const secured = (auth: NonNullable<BridgeRigOptions['auth']>): BridgeRigOptions => ({
  realmUri: SECURED_REALM,
  auth,
})

const SECRET = 'not-the-secret'

export const SESSION_CASES: readonly BridgeCase[] = [
  {
    name: 'unknown realm: refused with the reason, calls fail as no_such_realm',
    same: {
      state: 'refused',
      reason: 'wamp.error.no_such_realm',
      error: 'wamp.error.no_such_realm',
    },
    run: (context) => refusal(context, { realmUri: 'com.example.nope' }),
  },
  {
    name: 'wrong ticket: refused with the reason, calls fail as net_failure, no secret is told',
    each: {
      embedded: refused('wamp.error.authentication_failed'),
      nexus: refused('wamp.error.authentication_failed'),
      crossbar: refused('wamp.error.not_authorized'),
    },
    run: (context) =>
      refusal(context, secured({ method: 'ticket', authid: 'gateway', secret: SECRET })),
  },
  {
    name: 'wrong wampcra secret: refused with the reason',
    each: {
      embedded: refused('wamp.error.authentication_failed'),
      nexus: refused('wamp.error.authentication_failed'),
      crossbar: refused('wamp.error.not_authorized'),
    },
    run: (context) =>
      refusal(context, secured({ method: 'wampcra', authid: 'gateway-cra', secret: SECRET })),
  },
  {
    name: 'anonymous where that is not allowed: refused with the reason',
    each: {
      embedded: refused('wamp.error.authentication_failed'),
      nexus: refused('wamp.error.authentication_failed'),
      crossbar: refused('wamp.error.no_such_role'),
    },
    run: (context) => refusal(context, secured({ method: 'anonymous' })),
  },
  {
    name: 'ticket',
    same: 'open',
    run: async ({ bridge }) => {
      const auth = { method: 'ticket', authid: 'gateway', secret: 'gateway-ticket' } as const
      const rig = await bridge(secured(auth))
      return rig.sessions()[0]?.state
    },
  },
  {
    name: 'wampcra',
    same: 'open',
    run: async ({ bridge }) => {
      const secret = 'gateway-cra-secret'
      const rig = await bridge(secured({ method: 'wampcra', authid: 'gateway-cra', secret }))
      return rig.sessions()[0]?.state
    },
  },
  {
    name: 'wampcra with a salt, where the router has it',
    each: {
      embedded: refused('wamp.error.authentication_failed'),
      nexus: 'open',
      crossbar: 'open',
    },
    run: async (context) => {
      const secret = 'gateway-salted-secret'
      const auth = { method: 'wampcra', authid: 'gateway-salted', secret } as const
      if (context.router.name === 'embedded') return refusal(context, secured(auth))
      const rig = await context.bridge(secured(auth))
      return rig.sessions()[0]?.state
    },
  },
  {
    name: 'cryptosign',
    same: 'open',
    run: async ({ bridge }) => {
      const auth = { method: 'cryptosign', authid: 'gateway-key', secret: CRYPTOSIGN_SEED } as const
      const rig = await bridge(secured(auth))
      return rig.sessions()[0]?.state
    },
  },
  {
    name: 'a pool of three is three sessions; closed they are gone at once',
    same: { opened: 3, left: 0, works: 9 },
    run: async ({ bridge, peer, uri }) => {
      const before = await sessionCount(peer)
      const rig = await bridge({ pool: 3 })
      const opened = (await sessionCount(peer)) - before
      await register(peer, uri, ({ args }) => ({ args }))
      const calls = Array.from({ length: 9 }, (_, n) => callBy(rig.client, uri, { args: [n] }))
      const works = (await Promise.all(calls)).filter((settled) => 'args' in settled).length
      await rig.close()
      const left = await eventually(async () => {
        const now = (await sessionCount(peer)) - before
        if (now !== 0) throw new Error(`${now} sessions are left`)
        return now
      })
      return { opened, left, works }
    },
  },
  {
    name: 'fail-over: the second address is used where nothing listens at the first',
    same: { state: 'open', isSecond: true },
    run: async ({ bridge, router }) => {
      // Port 9 of loopback: nothing listens there.
      const rig = await bridge({
        urls: ['rs://127.0.0.1:9', router.rawsocket],
        url: 'ws://127.0.0.1:9/ws',
      })
      const [session] = rig.sessions()
      return {
        state: session?.state,
        isSecond: session?.url.includes(new URL(router.rawsocket).host),
      }
    },
  },
  {
    name: 'killed by wamp.session.kill: pending calls fail, it joins again with all that was held',
    same: {
      pending: 'wamp.error.net_failure',
      again: { args: ['again'] },
      held: { args: ['held'] },
      told: ['followed', 'interrupted', 'resumed'],
      events: [['after']],
      sessions: 0,
    },
    run: async ({ bridge, open, peer, uri }) => {
      const callee = await open()
      const before = await sessionCount(peer)
      const rig = await bridge()
      const callers: Value[] = []
      await register(callee, uri, ({ args, details }) => {
        callers.push(details['caller'] ?? null)
        return args.length > 0 ? { args } : undefined
      })
      const options = { disclose_me: true }
      await callBy(rig.client, uri, { args: ['first'], options })
      const handler = () => Promise.resolve({ args: ['held'], kwargs: {} })
      await rig.client.register({ procedure: `${uri}.held`, options: {}, handler, callback: 'x' })
      const followed = await follow(rig.client, `${uri}.topic`)
      const pending = callBy(rig.client, uri, { options })
      await call(peer, 'wamp.session.kill', { args: callers.slice(0, 1) })
      const failed = errorOf(await pending)
      await followed.until('resumed')
      await rig.become('open')
      const again = await callBy(rig.client, uri, { args: ['again'] })
      const held = await eventually(async () => {
        const outcome = await call(peer, `${uri}.held`)
        if ('error' in outcome) throw new Error(outcome.error)
        return outcome
      })
      await publish(peer, `${uri}.topic`, { args: ['after'] })
      await eventually(() => {
        if (followed.events.length === 0) throw new Error('no event yet')
      })
      const sessions = (await sessionCount(peer)) - before - 1
      const events = followed.events.map(({ args }) => args)
      return { pending: failed, again, held, told: [...followed.told], events, sessions }
    },
  },
]

function refused(reason: string): Readonly<Record<string, string>> {
  return { state: 'refused', reason, error: 'wamp.error.net_failure' }
}

/** A call while it is refused, too: it fails at once. */
const refusal = async ({ bridge }: BridgeContext, options: BridgeRigOptions): Promise<unknown> => {
  const rig = await bridge({ ...options, join: false })
  await rig.become('refused')
  const [session] = rig.sessions()
  const settled = await callBy(rig.client, 'com.example.x')
  const told = JSON.stringify([session, settled])
  if (told.includes(SECRET)) throw new Error(`a secret is told: ${told}`)
  return {
    state: session?.state,
    // What follows the URI is for people.
    reason: /^[\w.]+/.exec(session?.reason ?? '')?.[0],
    error: errorOf(settled),
  }
}

export const sessionCount = async (peer: RawPeer): Promise<number> => {
  const { args } = await call(peer, 'wamp.session.count')
  return Array.isArray(args) ? Number(args[0]) : NaN
}
