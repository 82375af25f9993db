// Documents of the component tests, and the calls that put them into a gateway. What a document does is
// the test's; host `_` and realm are the same everywhere.

import type { GatewayProcess } from '../support/gateway-process.ts'
import { request, type HttpResponse } from '../support/http-request.ts'

export const REALM = 'com.component'

export type Operation = Readonly<Record<string, unknown>>

/** An API on every host whose paths are GETs. */
export const api = (id: string, paths: Readonly<Record<string, Operation>>): object => ({
  id,
  host: '_',
  realm_uri: REALM,
  versions: {
    v1: {
      base_path: `/${id}`,
      paths: Object.fromEntries(Object.entries(paths).map(([path, get]) => [path, { get }])),
    },
  },
})

export const answers = (body: unknown): Operation => ({
  action: { type: 'static', body },
  response: {},
})

/** Passes an upstream's response through unread; `more` goes into the action. */
export const forwards = (origin: string, path: string, more: object = {}): Operation => ({
  action: { type: 'forward', host: origin, path, ...more },
  response: {},
})

/** Creates the realm, then loads; throws unless every call is answered with 204. */
export const load = async (
  gateway: GatewayProcess,
  ...documents: readonly object[]
): Promise<void> => {
  await expect204(post(gateway, '/realms', { uri: REALM }))
  for (const document of documents) await expect204(post(gateway, '/api_specs', document))
}

export const post = (gateway: GatewayProcess, path: string, json: unknown): Promise<HttpResponse> =>
  request(`${gateway.management}${path}`, { method: 'POST', json })

const expect204 = async (response: Promise<HttpResponse>): Promise<void> => {
  const { status, text } = await response
  if (status !== 204) throw new Error(`expected 204, got ${status}: ${text}`)
}
