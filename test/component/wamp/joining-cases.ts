// The router does not let the gateway in: whoever runs the gateway learns why, clients learn that it fails, nobody
// learns a secret; once the realm is put right, it works at once.

import { expect } from '@jest/globals'
import type { RouterRecord } from '../../../spec/realm-record.ts'
import type { SessionState } from '../../../spec/wire.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { eventually } from '../../support/eventually.ts'
import { OPEN_REALM, SECURED_REALM } from '../../support/routers/router-config.ts'
import { CRYPTOSIGN_SEED, type RouterName } from '../../support/routers/router-under-test.ts'
import { register } from '../../support/wamp-peer.ts'
import { post } from '../gateway-client.ts'
import type { FaultCase, FaultContext, Transport } from './fault-case.ts'
import { measured } from './measured.ts'
import { calls } from './wamp-operations.ts'

type Auth = NonNullable<RouterRecord['auth']>

/** Far below what a call or a connection may take. */
const STOP_MS = 4000
const NOWHERE = 'com.example.nope'
const ON_SECURED = { url: '', realm: SECURED_REALM }

interface Identity {
  readonly right: Auth & { readonly secret: string }
  readonly wrong: string
}

/** How each router says no. */
const REASONS = {
  embedded: 'wamp.error.authentication_failed',
  nexus: 'wamp.error.authentication_failed',
  crossbar: 'wamp.error.not_authorized',
}

const IDENTITIES: readonly Identity[] = [
  {
    right: { method: 'ticket', authid: 'gateway', secret: 'gateway-ticket' },
    wrong: 'wrong-ticket-5d1f0c',
  },
  {
    right: { method: 'wampcra', authid: 'gateway-cra', secret: 'gateway-cra-secret' },
    wrong: 'wrong-cra-7be21a',
  },
  {
    right: { method: 'cryptosign', authid: 'gateway-key', secret: CRYPTOSIGN_SEED },
    wrong: '5a'.repeat(32),
  },
]

const TRANSPORTS: readonly Transport[] = ['ws', 'rawsocket']

export const JOINING_CASES: readonly FaultCase[] = [
  ...TRANSPORTS.map((transport): FaultCase => ({
    name: `a router that never says a word holds up nothing, by ${transport}`,
    on: ['embedded', 'nexus'],
    same: {
      loaded: 204,
      state: 'connecting',
      answer: { status: 502, code: 'wamp.error.net_failure' },
      ready: 204,
      reason: expect.stringContaining('no connection within 5000 ms'),
      later: { status: 502, code: 'wamp.error.net_failure' },
      exit: 0,
      isSoon: true,
    },
    run: async (context) => {
      const { relay, url } = await context.relayTo(transport)
      relay.freeze()
      await using gateway = await startGateway()
      const realm = `${gateway.management}/realms/${OPEN_REALM}`
      const session = async (): Promise<SessionState | undefined> => {
        const answer = await request(realm)
        return (answer.json() as { readonly sessions: readonly SessionState[] }).sessions[0]
      }
      const ask = async (): Promise<object> => {
        const answer = await request(`${gateway.public}/mute/x`, {
          method: 'POST',
          json: { args: [] },
        })
        const { code } = answer.json() as { readonly code: string }
        return { status: answer.status, code }
      }
      await post(gateway, '/realms', { uri: OPEN_REALM, router: { url } })
      const { status: loaded } = await post(gateway, '/api_specs', {
        ...{ id: 'mute', host: '_', realm_uri: OPEN_REALM },
        versions: {
          v1: { base_path: '/mute', paths: { '/x': { post: calls(`${context.uri}.x`) } } },
        },
      })
      const { state } = (await session()) ?? {}
      const answer = await ask()
      const ready = (await request(`${gateway.management}/ready`)).status
      const reason = await eventually(
        async () => {
          const now = await session()
          if (now?.reason === undefined) throw new Error('it is still being tried')
          return now.reason
        },
        { withinMs: 15_000 },
      )
      const later = await ask()
      const sinceMs = performance.now()
      gateway.signal('SIGTERM')
      const { code: exit } = await gateway.exited
      const tookMs = performance.now() - sinceMs
      measured(context.router.name, `a gateway stopped with a router that is mute`, tookMs)
      const isSoon = tookMs < STOP_MS
      return { loaded, state, answer, ready, reason, later, exit, isSoon }
    },
  })),
  {
    name: 'a realm that the router does not know',
    same: {
      state: 'refused',
      reason: 'wamp.error.no_such_realm',
      answer: { status: 502, body: 'wamp.error.no_such_realm' },
      metric: ['refused'],
      neighbour: 200,
      ready: 204,
      right: { status: 200, body: ['in'] },
    },
    run: async (context) => {
      const { router, uri } = context
      await context.realm({ url: router.ws }, { uri: NOWHERE })
      await context.serve({ '/x': { post: calls(`${uri}.x`) } }, { realmUri: NOWHERE })
      const { state, reason } = await context.become('refused', NOWHERE)
      const answer = await context.call('/x')
      const metric = await statesOf(context, NOWHERE)
      const { status } = await context.neighbour()
      const ready = (await request(`${context.gateway.management}/ready`)).status
      // The document moves to a realm that there is.
      const callee = await context.open()
      await register(callee, `${uri}.x`, ({ args }) => ({ args }))
      await context.realm({ url: router.ws })
      await context.serve({ '/x': { post: calls(`${uri}.x`) } })
      const right = await untilAnswered(context)
      return { state, reason: uriOf(reason), answer, metric, neighbour: status, ready, right }
    },
  },
  ...IDENTITIES.map(({ right, wrong }): FaultCase => {
    const expected = (router: RouterName): unknown => ({
      state: 'refused',
      reason: REASONS[router],
      answer: { status: 502, body: 'wamp.error.net_failure' },
      after: { status: 200, body: ['in'] },
      told: [],
    })
    return {
      name: `a wrong ${right.method}, then the right one`,
      each: {
        embedded: expected('embedded'),
        nexus: expected('nexus'),
        crossbar: expected('crossbar'),
      },
      run: async (context) => {
        const { router, uri, gateway } = context
        const secured = { uri: SECURED_REALM }
        await context.realm({ url: router.rawsocket, auth: { ...right, secret: wrong } }, secured)
        await context.serve({ '/x': { post: calls(`${uri}.x`) } }, { realmUri: SECURED_REALM })
        const { state, reason } = await context.become('refused', SECURED_REALM)
        const answer = await context.call('/x')
        const before = await everythingTold(context)
        const callee = await context.open({ ...ON_SECURED, ...asTicket(context) })
        await register(callee, `${uri}.x`, ({ args }) => ({ args }))
        const sinceMs = performance.now()
        await context.realm({ url: router.rawsocket, auth: right }, secured)
        const after = await untilAnswered(context)
        const what = `open after the right ${right.method} was put`
        measured(router.name, what, performance.now() - sinceMs)
        const texts = [...before, ...(await everythingTold(context)), ...gateway.logs()]
        const told = [wrong, right.secret].filter((secret) =>
          texts.some((text) => text.includes(secret)),
        )
        return { state, reason: uriOf(reason), answer, after, told }
      },
    }
  }),
]

const asTicket = ({ router }: FaultContext): object => ({
  url: router.rawsocket,
  hello: { authmethods: ['ticket'], authid: 'gateway' },
  onChallenge: () => 'gateway-ticket',
})

const untilAnswered = (context: FaultContext): Promise<unknown> =>
  eventually(async () => {
    const answer = await context.call('/x', ['in'])
    if (answer.status !== 200) throw new Error(JSON.stringify(answer))
    return answer
  })

/** What follows the URI is for people. */
const uriOf = (reason = ''): string => /^[\w.]+/.exec(reason)?.[0] ?? reason

const statesOf = async (context: FaultContext, realmUri: string): Promise<readonly string[]> =>
  (await context.metric(`svc_gateway_wamp_sessions{realm="${realmUri}"`))
    .filter((line) => !line.endsWith(' 0'))
    .map((line) => /state="(\w+)"/.exec(line)?.[1] ?? line)

/** All that can be read of a gateway, and an answer that fails. */
const everythingTold = async (context: FaultContext): Promise<readonly string[]> => {
  const { gateway } = context
  const paths = ['/realms', `/realms/${SECURED_REALM}`, '/metrics', '/api_specs']
  const read = [...paths, '/api_specs?view=state'].map((path) => request(gateway.management + path))
  const failed = request(context.url('/x'), { method: 'POST', json: { args: [] } })
  const answers = await Promise.all([...read, failed])
  return answers.map(({ text, headers }) => text + JSON.stringify(headers))
}
