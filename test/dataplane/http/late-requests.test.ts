// Requests that end after their document was removed: they are counted, and nothing of the document comes back.

import { afterEach, expect, it } from '@jest/globals'
import { respond } from '../../../dataplane/http/builtin/respond.ts'
import { createGatewayRequests } from '../../../dataplane/metrics.ts'
import { followDocuments } from '../../../dataplane/start/follow-documents.ts'
import { eventually } from '../../support/eventually.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'
import { accepted } from './verdicts.ts'

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'wamp.2.json',
}

it.each([
  ['an operation', '/x', {}],
  ['a built-in endpoint', '/oidc/login', {}],
  ['a WebSocket connection', '/ws', UPGRADE],
])('a request to %s makes no series of a removed document', async (_, path, headers) => {
  const requests = createGatewayRequests()
  const isHeld = Promise.withResolvers<true>()
  const goOn = Promise.withResolvers<undefined>()
  gateway = await serveGateway({
    realms: new Map([['com.acme', { uri: 'com.acme', router: { url: 'ws://127.0.0.1:1' } }]]),
    rowFor: ({ apiId: api, name: version }, template, method) =>
      requests.rowFor({ api, version, path: template, method: method.toUpperCase() }),
    authenticate: async () => {
      isHeld.resolve(true)
      await goOn.promise
      return accepted()
    },
    endpoints: (builtinRequest) => {
      isHeld.resolve(true)
      void goOn.promise.then(() => {
        respond(builtinRequest, { status: 200, headers: [], body: '' })
      })
    },
  })
  await gateway.load(
    apiOf({ '/x': { get: answers('x') } }, { defaults: { security: { type: 'oidc' } } }),
  )
  const asked = gateway.ask('GET', path, { headers })
  await isHeld.promise
  await gateway.remove('api')
  followDocuments(requests, { put: [], remove: ['api'] })
  goOn.resolve(undefined)
  await asked
  await eventually(() => {
    expect(requests.takeCounts().statuses).toHaveLength(1)
  })
  const samples = requests.families().flatMap((family) => [...family.samples()])
  expect(samples.map(([series]) => series)).toEqual([
    expect.stringMatching(/^svc_gateway_responses_total\{/),
  ])
})
