// Defines the documents of the route benchmarks: one per probe, one whose every part changes with its version, and many
// that come, change and go.

import { API_VERSION } from '../../../operator/resource/resource.ts'
import { get, STATIC_BODY } from '../documents.ts'

export const NAMESPACE = 'routes'
const REALM_URI = 'routes'
export const API_KEY = 'key-of-the-benchmark-0123456789'
export const LIVE_HOST = 'live.routes.test'

const USER = 'bench'

/** @param keySha256 of `API_KEY`, in base64url or hex as the Realm wants it */
export const realm = (keySha256: string): object => ({
  apiVersion: API_VERSION,
  kind: 'Realm',
  metadata: { name: 'routes', namespace: NAMESPACE },
  spec: { uri: REALM_URI, users: [{ username: USER }], apiKeys: [{ keySha256, username: USER }] },
})

const probeName = (index: number): string => `probe-${index}`
export const probeHost = (index: number): string => `probe-${index}.routes.test`

/** As in the published benchmark: a host of its own, one path to an upstream, and one header more. */
export const probeResource = (index: number, upstream: string): object =>
  resource(probeName(index), {
    host: probeHost(index),
    paths: { [`/${index}`]: get({ type: 'forward', host: upstream, path: '/' }, ADDED_HEADER) },
  })

const ADDED_HEADER = { on_result: { headers: { 'added-header': 'added-value' } } }

/** What a version of the live document is: each part changes in a rhythm of its own. */
export interface LiveVersion {
  readonly number: number
  /** Index of the upstream. */
  readonly upstream: 0 | 1
  readonly isSecured: boolean
  readonly hasExtraPath: boolean
}

export const liveVersion = (number: number): LiveVersion => ({
  number,
  upstream: number % 2 === 0 ? 0 : 1,
  isSecured: number % 4 >= 2,
  hasExtraPath: number % 3 !== 0,
})

/** The version is in a header to the upstream and in one to the client, so that a mixture of two shows. */
export const liveResource = (
  { number, upstream, isSecured, hasExtraPath }: LiveVersion,
  upstreams: readonly [string, string],
): object => {
  const operation = {
    ...get(
      {
        type: 'forward',
        host: upstreams[upstream],
        path: '/',
        headers: { 'x-sent-version': String(number) },
      },
      { on_result: { headers: { 'x-version': String(number) } } },
    ),
    ...(isSecured && { security: { type: 'api_key', header_name: 'x-api-key' } }),
  }
  const extra = { '/extra': operation }
  const live = { '/live': operation }
  return resource('live', {
    host: LIVE_HOST,
    paths: { ...(hasExtraPath && extra), ...live },
  })
}

export const churnName = (index: number): string => `churn-${index}`
export const churnHost = (index: number): string => `churn-${index}.routes.test`

/** @param edit makes it another document */
export const churnResource = (index: number, edit: number): object =>
  resource(churnName(index), {
    host: churnHost(index),
    paths: { '/item': get({ type: 'static', body: { ...STATIC_BODY, edit } }) },
  })

const resource = (
  name: string,
  { host, paths }: { readonly host: string; readonly paths: Readonly<Record<string, object>> },
): object => ({
  apiVersion: API_VERSION,
  kind: 'ApiSpecification',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    document: {
      id: `${NAMESPACE}.${name}`,
      host,
      realm_uri: REALM_URI,
      versions: { v1: { base_path: '/', paths } },
    },
  },
})
