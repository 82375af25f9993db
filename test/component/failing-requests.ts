// The ways in which a request can fail, one row for each, with what the client learns, and with what the person who runs the
// gateway finds in log, audit log, access log, metrics, span and GET /why.

import { expect } from '@jest/globals'
import type { HttpOptions } from '../support/http-request.ts'
import { type FailingRig, HOST, WRONG_PASSWORD } from './failing-rig.ts'

export interface Row {
  readonly name: string
  readonly path: string
  readonly options?: HttpOptions | ((rig: FailingRig) => HttpOptions)
  /** Earlier ones have to bring it about. */
  readonly isRepeated?: boolean
  readonly status: number
  /** Of the error record that the client gets; absent: its body is another. */
  readonly code?: string
  readonly body: string | RegExp
  /** Absent: the caller is to blame, and nothing is logged. */
  readonly log?: ({ readonly msg: RegExp } & Readonly<Record<string, unknown>>) | undefined
  readonly audit?: Readonly<Record<string, unknown>>
  readonly reason?: string
  readonly upstream?: (rig: FailingRig) => string
  /** `code` of access log and decision, where they say something else than the response to the client. */
  readonly known?: string | undefined
  readonly step: string
  readonly pointer?: string
  readonly why?: Readonly<Record<string, unknown>>
  /** `error.type` of the span. */
  readonly type?: string | undefined
  readonly metric: (row: Row) => string
}

const requests =
  (path: string, method = 'GET', api = 'failing') =>
  ({ status }: Row): string =>
    `svc_gateway_requests_total{api="${api}",version="v1",path="${path}",method="${method}",status="${classOf(status)}"} `

const unmatched = ({ status }: Row): string =>
  `svc_gateway_requests_total{api="",version="",path="",method="",status="${classOf(status)}"}`

const classOf = (status: number): string => `${Math.floor(status / 100)}xx`

const UNREACHABLE = 'The upstream could not be reached.'
const INVALID = 'The upstream sent an invalid response.'
const LATE = 'The upstream did not answer in time.'

const placeOf = (name: string, method = 'get'): string => `/versions/v1/paths/~1${name}/${method}`

interface Upstreamed {
  readonly reason: string
  readonly body: string
  readonly msg: RegExp
  readonly upstream: (rig: FailingRig) => string
  readonly attempts?: number
  readonly code?: string
  readonly status?: number
}

/** A forward that fails. */
const forwarded = (name: string, { msg, attempts = 1, ...more }: Upstreamed): Row => ({
  name,
  path: `/v1/${name}`,
  status: 504,
  code: 'svc.error.bad_gateway',
  log: {
    msg,
    level: 'warn',
    api: 'failing',
    version: 'v1',
    method: 'GET',
    path: `/v1/${name}`,
    attempts,
    more: 0,
  },
  step: 'action',
  pointer: `${placeOf(name)}/action`,
  why: { attempts },
  type: more.reason,
  metric: requests(`/v1/${name}`),
  ...more,
})

const INVALID_DATA = 'svc.error.invalid_data'

/** An expression that fails on what the client has sent: only the log has the expression. */
const expression = (
  name: string,
  body: RegExp,
  {
    detail,
    pointer,
    ...more
  }: Partial<Row> & { readonly detail: RegExp; readonly pointer: string },
): Row => ({
  name,
  path: `/v1/${name}`,
  status: 400,
  code: INVALID_DATA,
  body,
  log: {
    msg: /an expression of the document could not be evaluated/,
    detail: expect.stringMatching(detail),
    pointer,
  },
  reason: 'expression',
  step: 'expression',
  pointer,
  type: undefined,
  metric: requests(`/v1/${name}`),
  ...more,
})

const wamp = (
  name: string,
  more: Partial<Row> & Pick<Row, 'status' | 'body' | 'reason'> & { readonly msg: RegExp },
): Row => ({
  name,
  path: `/v1/${name}`,
  step: 'action',
  pointer: `${placeOf(name)}/action`,
  metric: requests(`/v1/${name}`),
  ...(more.reason !== undefined && { type: more.reason }),
  ...more,
  log: { msg: more.msg, api: 'failing', path: `/v1/${name}` },
})

/** What the client could have done otherwise. */
const refused = (
  name: string,
  code: string,
  more: Partial<Row> & Pick<Row, 'status' | 'body' | 'step'>,
): Row => ({
  name,
  path: `/v1/${name}`,
  code: `svc.error.${code}`,
  metric: requests(`/v1/${name}`),
  ...more,
})

const ANN = { headers: { 'x-key': 'key-of-ann' } }

const lacking = (name: string, missing: string): Row =>
  refused(name, 'forbidden', {
    options: ANN,
    status: 403,
    body: /not open to this caller/,
    audit: { event: 'authentication', reason: 'forbidden', missing },
    step: 'requirements',
    pointer: `/versions/v1/paths/~1${name}/security/${name}`,
  })

const login = (provider: string, msg: RegExp, log: object): Row => ({
  name: `provider-${provider}`,
  path: `/v1/oidc/login?provider=${provider}`,
  status: 503,
  body: '{"error":"provider_unavailable"}',
  log: { msg, code: 'provider_unavailable', provider, realm: 'com.failing', more: 0, ...log },
  audit: { event: 'login', reason: 'provider_unavailable', provider },
  known: 'provider_unavailable',
  step: 'action',
  metric: () => 'svc_gateway_oidc_total{endpoint="login",outcome="provider_unavailable"} 6',
})

export const ROWS: readonly Row[] = [
  forwarded('refused', {
    reason: 'refused',
    body: UNREACHABLE,
    msg: /does not accept connections; is it running/,
    upstream: () => 'http://127.0.0.1:1',
    attempts: 2,
  }),
  forwarded('dns', {
    reason: 'dns',
    body: UNREACHABLE,
    msg: /can't be resolved; is it spelt correctly/,
    upstream: () => 'http://no-such-host.test',
  }),
  forwarded('tls', {
    reason: 'tls',
    body: UNREACHABLE,
    msg: /TLS with the upstream failed/,
    upstream: (rig) => rig.origins.wrongTls,
  }),
  forwarded('untrusted', {
    reason: 'tls',
    body: UNREACHABLE,
    msg: /TLS with the upstream failed/,
    upstream: (rig) => rig.origins.secure,
  }),
  forwarded('denied', {
    reason: 'denied',
    body: UNREACHABLE,
    msg: /not an allowed destination/,
    upstream: () => 'http://169.254.169.254',
  }),
  forwarded('hang-up', {
    reason: 'reset',
    body: INVALID,
    msg: /closed the connection before its response was complete/,
    upstream: (rig) => rig.origins.plain,
  }),
  forwarded('garbage', {
    reason: 'malformed',
    body: INVALID,
    msg: /not valid HTTP/,
    upstream: (rig) => rig.origins.plain,
  }),
  forwarded('bad-json', {
    reason: 'undecodable',
    body: 'The upstream sent a body that does not match its content type.',
    msg: /can't be decoded/,
    upstream: (rig) => rig.origins.plain,
  }),
  forwarded('slow', {
    reason: 'timeout',
    body: LATE,
    msg: /nothing for longer than timeout/,
    upstream: (rig) => rig.origins.plain,
    code: 'svc.error.timeout',
  }),
  {
    ...forwarded('full', {
      reason: 'overloaded',
      body: 'Too many requests are waiting for this upstream.',
      msg: /too many requests waited for the upstream/,
      upstream: (rig) => rig.origins.plain,
      code: 'svc.error.overloaded',
      status: 503,
    }),
    path: '/narrow/full',
    log: { msg: /too many requests waited for the upstream/, api: 'narrow', path: '/narrow/full' },
    metric: requests('/narrow/full', 'GET', 'narrow'),
  },
  {
    ...forwarded('status', {
      reason: 'upstream_status',
      body: '"status":404',
      msg: /./,
      upstream: (rig) => rig.origins.plain,
      code: 'svc.error.upstream.404',
      status: 404,
    }),
    log: undefined,
    type: undefined,
  },
  expression('expression', /request\.headers\.absent is missing/, {
    detail: /there is no key 'absent' in request\.headers/,
    pointer: `${placeOf('expression')}/action/body/a/1`,
  }),
  expression('key', /request\.body\.sku is missing, or has a value that is not accepted here/, {
    detail: /finds no key 'sku' and has no default/,
    pointer: `${placeOf('key', 'post')}/action/body`,
    options: { method: 'POST', json: {} },
    metric: requests('/v1/key', 'POST'),
  }),
  wamp('callee', {
    status: 500,
    body: /com\.app\.error\.broken/,
    reason: 'wamp_error',
    // The callee may write anything into it.
    known: undefined,
    msg: /see the detail for its error URI/,
  }),
  wamp('nobody', {
    status: 501,
    code: 'wamp.error.no_such_procedure',
    body: /knows no such procedure: com\.no\.such/,
    reason: 'wamp_no_procedure',
    msg: /no callee has registered the procedure/,
  }),
  wamp('never', {
    status: 504,
    code: 'svc.error.timeout',
    body: /did not finish in time/,
    reason: 'wamp_timeout',
    msg: /did not finish within timeout/,
  }),
  {
    ...wamp('away', {
      status: 502,
      code: 'wamp.error.net_failure',
      body: /can't be reached at the moment; try again shortly/,
      reason: 'wamp_no_session',
      msg: /no session with the router/,
    }),
    path: '/away/call',
    log: { msg: /no session with the router of the realm/, api: 'away', path: '/away/call' },
    pointer: `${placeOf('call')}/action`,
    metric: requests('/away/call', 'GET', 'away'),
  },
  refused('host', 'not_found', {
    path: '/v1/ok',
    options: { headers: { host: 'other.test' } },
    status: 404,
    body: 'Nothing is served at this host and path',
    step: 'match',
    why: { tried: [] },
    metric: unmatched,
  }),
  refused('nothing', 'not_found', {
    status: 404,
    body: 'Nothing is served at this host and path',
    step: 'match',
    why: {
      tried: [expect.objectContaining({ document: 'failing', host: HOST, reason: 'segment' })],
    },
    metric: unmatched,
  }),
  refused('inactive', 'not_found', {
    path: '/v0/old',
    status: 404,
    body: 'Nothing is served at this host and path',
    step: 'match',
    why: { tried: [expect.objectContaining({ host: HOST, matchedSegments: 0 })] },
    metric: unmatched,
  }),
  refused('secure', 'not_found', {
    status: 404,
    body: 'This path is served over https.',
    step: 'scheme',
    why: { tried: [expect.objectContaining({ path: '/v1/secure', reason: 'scheme' })] },
    metric: unmatched,
  }),
  refused('method', 'method_not_allowed', {
    path: '/v1/ok',
    options: { method: 'DELETE' },
    status: 405,
    body: 'It serves GET, HEAD, OPTIONS, POST.',
    step: 'method',
    why: { tried: [expect.objectContaining({ path: '/v1/ok', reason: 'method' })] },
    metric: unmatched,
  }),
  refused('anonymous', 'unauthorized', {
    status: 401,
    body: 'Authenticate by api_key.',
    step: 'authenticate',
  }),
  refused('wrong-key', 'unauthorized', {
    path: '/v1/groups',
    options: { headers: { 'x-key': 'no' } },
    status: 401,
    body: /is wrong, has expired or was revoked/,
    audit: { event: 'authentication', reason: 'unknown_key' },
    step: 'authenticate',
    metric: requests('/v1/groups'),
  }),
  lacking('groups', 'one of groups: staff'),
  lacking('roles', 'one of roles: admin'),
  lacking('scopes', 'scopes: orders.write'),
  refused('csrf', 'forbidden', {
    path: '/v1/page',
    options: ({ ticket }) => ({ method: 'POST', headers: { cookie: ticket } }),
    status: 403,
    body: '{"error":"csrf_validation_failed"}',
    audit: { event: 'authentication', reason: 'csrf' },
    step: 'authenticate',
    metric: () => 'svc_gateway_authentications_total{scheme="oidc",outcome="csrf"} 2',
  }),
  refused('guesses', 'too_many_requests', {
    path: '/v1/basic',
    isRepeated: true,
    options: { headers: { authorization: WRONG_PASSWORD } },
    status: 429,
    body: 'Too many failed attempts',
    audit: { event: 'authentication', reason: 'too_many_failures' },
    step: 'limit',
    metric: () => `path="/v1/basic",method="GET",status="4xx"}`,
  }),
  refused('accept', 'not_acceptable', {
    path: '/v1/ok',
    options: { headers: { accept: 'image/png' } },
    status: 406,
    body: /This operation serves application\/json/,
    step: 'negotiate',
    metric: requests('/v1/ok'),
  }),
  refused('type', 'unsupported_media_type', {
    path: '/v1/ok',
    options: { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } },
    status: 415,
    body: /This operation accepts application\/json/,
    step: 'negotiate',
    metric: requests('/v1/ok', 'POST'),
  }),
  refused('large', 'payload_too_large', {
    path: '/v1/ok',
    options: { method: 'POST', json: 'x'.repeat(100) },
    status: 413,
    body: /larger than the 10 bytes/,
    step: 'body',
    metric: requests('/v1/ok', 'POST'),
  }),
  login('corp', /the issuer does not accept connections/, {
    reason: 'refused',
    setting: 'info.oidcProviders.corp.issuer',
  }),
  login('plain', /set allowUnsafeHttp where that is safe/, {
    reason: 'plain_http',
    setting: 'info.oidcProviders.plain.allowUnsafeHttp',
  }),
  login('slash', /the metadata name another issuer/, {
    reason: 'issuer',
    setting: 'info.oidcProviders.slash.issuer',
    issuer: expect.stringMatching(/\d\/$/),
    found: expect.stringMatching(/\d$/),
  }),
]
