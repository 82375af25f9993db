// Who may join, as whom, and how a session ends.

import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Value } from '../../../../language/expression/value.ts'
import { isMap } from '../../../../language/expression/value.ts'
import { MESSAGE } from '../../../../dataplane/wamp/protocol/messages.ts'
import { connectRawPeer, type RawPeerOptions } from '../../../support/raw-wamp-peer.ts'
import { SECURED_REALM } from '../../../support/routers/router-config.ts'
import { CRYPTOSIGN_SEED } from '../../../support/routers/router-under-test.ts'
import { call } from '../../../support/wamp-peer.ts'
import { askAgain, type ContractCase, errorOf, joinReason, textIn } from '../contract-case.ts'

const FAILED = 'wamp.error.authentication_failed'
const NOT_AUTHORIZED = 'wamp.error.not_authorized'

const withTicket = (authid: string, ticket: string): Partial<RawPeerOptions> => ({
  realm: SECURED_REALM,
  hello: { authmethods: ['ticket'], authid },
  onChallenge: () => ticket,
})

const withSecret = (authid: string, secret: string): Partial<RawPeerOptions> => ({
  realm: SECURED_REALM,
  hello: { authmethods: ['wampcra'], authid },
  onChallenge: (_method, extra) =>
    createHmac('sha256', secret).update(textIn(extra, 'challenge')).digest('base64'),
})

const withKey = (seedHex: string): Partial<RawPeerOptions> => {
  // RFC 8410, §7: an Ed25519 key in PKCS #8 is this and the seed.
  const der = Buffer.from(`302e020100300506032b657004220420${seedHex}`, 'hex')
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  // Crossbar asks for it; nexus does not.
  const authextra = { pubkey: spki.subarray(-32).toString('hex') }
  return {
    realm: SECURED_REALM,
    hello: { authmethods: ['cryptosign'], authid: 'gateway-key', authextra },
    onChallenge: (_method, extra) => {
      const challenge = Buffer.from(textIn(extra, 'challenge'), 'hex')
      return Buffer.concat([sign(null, challenge, key), challenge]).toString('hex')
    },
  }
}

const JOINS: readonly {
  readonly name: string
  readonly options: Partial<RawPeerOptions>
  readonly expected: readonly [embedded: string, nexus: string, crossbar: string]
}[] = [
  {
    name: 'unknown realm',
    options: { realm: 'com.example.nope' },
    expected: Array(3).fill('wamp.error.no_such_realm') as [string, string, string],
  },
  {
    name: 'anonymous, open realm',
    options: {},
    expected: ['joined as client', 'joined as client', 'joined as client'],
  },
  {
    name: 'anonymous, secured realm',
    options: { realm: SECURED_REALM },
    expected: [FAILED, FAILED, 'wamp.error.no_such_role'],
  },
  {
    name: 'right ticket',
    options: withTicket('gateway', 'gateway-ticket'),
    expected: ['joined as gateway', 'joined as gateway', 'joined as gateway'],
  },
  {
    name: 'wrong ticket',
    options: withTicket('gateway', 'x'),
    expected: [FAILED, FAILED, NOT_AUTHORIZED],
  },
  {
    name: 'unknown user',
    options: withTicket('nobody', 'x'),
    expected: [FAILED, FAILED, NOT_AUTHORIZED],
  },
  {
    name: 'right wampcra secret',
    options: withSecret('gateway-cra', 'gateway-cra-secret'),
    expected: ['joined as gateway', 'joined as gateway', 'joined as gateway'],
  },
  {
    name: 'wrong wampcra secret',
    options: withSecret('gateway-cra', 'x'),
    expected: [FAILED, FAILED, NOT_AUTHORIZED],
  },
  {
    name: 'right cryptosign key',
    options: withKey(CRYPTOSIGN_SEED),
    expected: ['joined as gateway', 'joined as gateway', 'joined as gateway'],
  },
  {
    name: 'cryptosign with another key',
    options: withKey('02'.repeat(32)),
    expected: [FAILED, FAILED, NOT_AUTHORIZED],
  },
]

/** What the bridge asks a router for. */
const FEATURES = {
  dealer: [
    'call_canceling',
    'call_timeout',
    'pattern_based_registration',
    'progressive_call_results',
    'shared_registration',
  ],
  broker: ['pattern_based_subscription'],
} as const

export const SESSION_CASES: readonly ContractCase[] = [
  ...JOINS.map(({ name, options, expected: [embedded, nexus, crossbar] }): ContractCase => ({
    name,
    each: { embedded, nexus, crossbar },
    run: ({ open }) => joinReason(() => open(options)),
  })),
  {
    name: 'features of the bridge that WELCOME does not announce',
    each: { embedded: [], nexus: [], crossbar: ['call_timeout'] },
    run: ({ caller }) => {
      const roles = caller.welcome['roles']
      const missing = Object.entries(FEATURES).flatMap(([role, names]) =>
        names.filter((name) => inMap(inMap(inMap(roles, role), 'features'), name) !== true),
      )
      return Promise.resolve(missing)
    },
  },
  {
    name: 'wamp.session.count',
    same: 1,
    run: async ({ caller, open }) => {
      const before = await sessionCount(() => call(caller, 'wamp.session.count'))
      await open()
      return (await sessionCount(() => call(caller, 'wamp.session.count'))) - before
    },
  },
  {
    name: 'wamp.session.kill: GOODBYE with the reason, then the end',
    same: { goodbye: 'com.example.maintenance' },
    run: ({ caller, open }) =>
      askAgain(async () => {
        const victim = await open()
        const kwargs = { reason: 'com.example.maintenance', message: 'bye' }
        const args = [victim.sessionId]
        const killed = await call(caller, 'wamp.session.kill', { args, kwargs })
        if ('error' in killed) return killed
        const [, , reason] = await victim.next(([type]) => type === MESSAGE.goodbye)
        return { goodbye: reason }
      }),
  },
  {
    name: 'wamp.session.kill of nobody',
    same: 'wamp.error.no_such_session',
    run: async ({ caller }) => errorOf(await call(caller, 'wamp.session.kill', { args: [4711] })),
  },
  {
    name: 'GOODBYE is answered',
    each: {
      embedded: 'wamp.close.goodbye_and_out',
      nexus: 'wamp.close.goodbye_and_out',
      crossbar: 'wamp.close.normal',
    },
    run: ({ open }) =>
      askAgain(async () => {
        const peer = await open()
        peer.send([MESSAGE.goodbye, {}, 'wamp.close.close_realm'])
        const [, , reason] = await peer.next(([type]) => type === MESSAGE.goodbye)
        return reason
      }),
  },
  {
    name: 'anything before HELLO: the connection is ended, or stays and is never heard',
    each: { embedded: true, nexus: true, crossbar: false },
    run: async ({ router }) => {
      await using peer = await connectRawPeer({ url: router.rawsocket })
      peer.send([MESSAGE.call, 1, {}, 'com.example.x'])
      return await peer.endsWithin(1000)
    },
  },
  {
    name: 'the router ends nothing of its own accord while a session is silent',
    same: false,
    // The time of a foreign program is the subject.
    run: async ({ open }) => await (await open()).endsWithin(300),
  },
]

const inMap = (map: Value | undefined, key: string): Value | undefined =>
  isMap(map) && Object.hasOwn(map, key) ? map[key] : undefined

const sessionCount = async (ask: () => Promise<object>): Promise<number> => {
  const outcome = await ask()
  const args: unknown = 'args' in outcome ? outcome.args : undefined
  return Array.isArray(args) ? Number(args[0]) : NaN
}
