// The router does not let the gateway in: the people who run the gateway learn why, clients learn that it fails, none
// learns a secret; once the realm is put right, it works at once.

import type { RouterRecord } from '../../../language/realm/record.ts'
import { request } from '../../support/http-request.ts'
import { eventually } from '../../support/eventually.ts'
import { SECURED_REALM } from '../../support/routers/router-config.ts'
import { CRYPTOSIGN_SEED, type RouterName } from '../../support/routers/router-under-test.ts'
import { register } from '../../support/wamp-peer.ts'
import type { FaultCase, FaultContext } from './fault-case.ts'
import { measured } from './measured.ts'
import { calls } from './wamp-operations.ts'

type Auth = NonNullable<RouterRecord['auth']>

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

export const JOINING_CASES: readonly FaultCase[] = [
  {
    name: 'a realm that the router does not know',
    same: {
      state: 'refused',
      reason: 'wamp.error.no_such_realm',
      response: { status: 502, body: 'wamp.error.no_such_realm' },
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
      const response = await context.call('/x')
      const metric = await statesOf(context, NOWHERE)
      const { status } = await context.neighbour()
      const ready = (await request(`${context.gateway.management}/ready`)).status
      // The document moves to a realm that there is.
      const callee = await context.open()
      await register(callee, `${uri}.x`, ({ args }) => ({ args }))
      await context.realm({ url: router.ws })
      await context.serve({ '/x': { post: calls(`${uri}.x`) } })
      const right = await untilAnswered(context)
      return { state, reason: uriOf(reason), response, metric, neighbour: status, ready, right }
    },
  },
  ...IDENTITIES.map(({ right, wrong }): FaultCase => {
    const expected = (router: RouterName): unknown => ({
      state: 'refused',
      reason: REASONS[router],
      response: { status: 502, body: 'wamp.error.net_failure' },
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
        const response = await context.call('/x')
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
        return { state, reason: uriOf(reason), response, after, told }
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
    const response = await context.call('/x', ['in'])
    if (response.status !== 200) throw new Error(JSON.stringify(response))
    return response
  })

/** What follows the URI is for people. */
const uriOf = (reason = ''): string => /^[\w.]+/.exec(reason)?.[0] ?? reason

const statesOf = async (context: FaultContext, realmUri: string): Promise<readonly string[]> =>
  (await context.metric(`svc_gateway_wamp_sessions{realm="${realmUri}"`))
    .filter((line) => !line.endsWith(' 0'))
    .map((line) => /state="(\w+)"/.exec(line)?.[1] ?? line)

/** All that can be read of a gateway, and a response that fails. */
const everythingTold = async (context: FaultContext): Promise<readonly string[]> => {
  const { gateway } = context
  const paths = ['/realms', `/realms/${SECURED_REALM}`, '/metrics', '/api_specs']
  const read = [...paths, '/api_specs?view=state'].map((path) => request(gateway.management + path))
  const failed = request(context.url('/x'), { method: 'POST', json: { args: [] } })
  const responses = await Promise.all([...read, failed])
  return responses.map(({ text, headers }) => text + JSON.stringify(headers))
}
