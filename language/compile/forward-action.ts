// Compiles the forward action (§2.5, behaviour §4): its compiled form, and how the two kinds of target, one host or
// several with weights, are read and mapped.

import { type Method, METHODS } from '../document.ts'
import type { ContextRead } from '../expression/reads.ts'
import type { Template } from '../expression/template.ts'
import { UNSENT_IN_REQUESTS } from '../unsent-headers.ts'
import { mapMembers } from './map-members.ts'
import { childPointer } from '../../base/json-pointer.ts'
import { headersMember, requiredText, textMember } from './action-members.ts'
import { compileCredential, type CredentialDeps } from './forward-credential.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type FoldedMap, readOneOf, readTexts } from './folded.ts'
import { compileHosts, type UpstreamHost, type WeightedHost } from './hosts.ts'
import { responseNeedsOf } from './response-needs.ts'
import { type ActionResponse, RESULT_BODY } from './action-response.ts'
import type { CheckedResponses } from './compiled-response.ts'
import type { TemplateUse } from './template-use.ts'
import {
  type ActionSchema,
  instead,
  key,
  LIST,
  listOf,
  MAP,
  oneOf,
  ref,
  TEXT,
} from '../schema/document-notation.ts'

export const HOST_KEY = key(
  'Upstream host, with scheme and port where needed: http://orders:8080. http is the default.',
  { ...TEXT, minLength: 1 },
  {
    examples: ['http://orders:8080'],
    wished: instead(
      "where requests go is said by an action: type: forward, and its 'host'",
      'upstream',
      'backend',
      'target',
      'proxypass',
    ),
  },
)

/** Which `Host` an upstream gets: that of the action, or that of the client's request. */
const HOST_HEADERS = ['upstream', 'request'] as const

export const FORWARD_KEYS: ActionSchema = {
  description: 'Forwards the request to an upstream HTTP endpoint.',
  snippet: { host: '${1:http://orders:8080}' },
  shares: 'limits',
  own: {
    http_method: key(
      "Method of the upstream request, in lower case; the request's when left out.",
      oneOf(METHODS),
      {
        wished: instead(
          "methods are keys of the path (get, post, …); that of the upstream is 'http_method' of the action",
          'method',
        ),
      },
    ),
    host: HOST_KEY,
    hosts: key(
      'In place of host: several upstream hosts, of which each attempt takes one by weight.',
      { ...LIST, ...listOf(ref('weightedHost'), { minItems: 1, maxItems: 16 }) },
    ),
    host_header: key(
      'Host header of the upstream request: upstream (the default), which is the host of the action, or request, which is the host that the client has asked for. TLS name and certificate are those of the host of the action in any case.',
      oneOf(HOST_HEADERS),
    ),
    path: key(
      "Upstream path; the request's when left out. Tags within a longer text are percent-encoded.",
      TEXT,
      {
        examples: ['/orders/{{request.bindings.id}}'],
        wished: {
          ...instead("the path at the upstream is 'path' of the action", 'rewrite'),
          ...instead(
            "an upstream is said by 'host', 'path' and 'query_string' of an action of type forward",
            'url',
          ),
        },
      },
    ),
    query_string: key(
      "Upstream query string without the question mark; the request's when left out.",
      TEXT,
    ),
    headers: key("Headers of the upstream request by name; the request's when left out.", MAP, {
      examples: ['{{request.headers}}'],
    }),
    body: key("Body of the upstream request; the request's, unread, when left out."),
    upgrade: key(
      'Protocols that the connection of a client may be switched to, if the upstream does: websocket. Without it the handshake of a WebSocket is 400.',
      { ...LIST, ...listOf(oneOf(['websocket']), { minItems: 1, maxItems: 1 }) },
    ),
    credential: key(
      'Name of a credential of the realm, which the gateway authenticates with at the upstream.',
      { ...TEXT, minLength: 1 },
    ),
  },
  if: { required: ['hosts'] },
  then: {
    properties: { host: key('An action has either host or hosts, not both.', { not: {} }) },
  },
  else: {
    properties: { host: key('An action needs host, or hosts with weights.') },
    required: ['host'],
  },
}

/** Either `host` or `hosts`. Other members that are absent default to those of the request (behaviour §4). */
export type ForwardAction<T = Template> = ForwardMembers<T> & ForwardTarget<T>

export type ForwardTarget<T = Template> =
  | { readonly host: T; readonly hosts?: never }
  | { readonly host?: never; readonly hosts: readonly WeightedHost<T>[] }

interface ForwardMembers<T> {
  readonly type: 'forward'
  readonly method?: Method
  readonly path?: T
  readonly queryString?: T
  readonly headers?: T
  readonly body?: T
  /** A client may open a WebSocket through it. */
  readonly upgrade?: 'websocket'
  /** Name of the credential of the realm that the gateway authenticates with at the upstream. */
  readonly credential?: string
  /** The upstream gets the host that the request is for in place of its own. */
  readonly hostHeader?: 'request'
}

export interface ForwardDeps extends CredentialDeps {
  /** A host of the document is `_`, or another pattern without a name. */
  readonly hasNamelessHost: boolean
}

/** undefined: a problem was reported. */
export const compileForward = (
  map: FoldedMap,
  diagnostics: Diagnostics,
  deps: ForwardDeps,
): ForwardAction | undefined => {
  const target = compileTarget(map, diagnostics)
  const methodTemplate = map.get('http_method')
  const method =
    methodTemplate &&
    readOneOf(methodTemplate, childPointer(map.pointer, 'http_method'), METHODS, diagnostics)
  const path = textMember(map, 'path', diagnostics)
  const queryString = textMember(map, 'query_string', diagnostics)
  const headers = headersMember(map, UNSENT_IN_REQUESTS, diagnostics)
  const body = map.get('body')
  const upgrade = compileUpgrade(map, deps.method, diagnostics)
  if (target === undefined) return undefined
  const hosts = forwardHosts({ type: 'forward', ...target })
  const credential = compileCredential(map, { ...deps, hosts, headers }, diagnostics)
  const hostHeader = compileHostHeader(map, deps, diagnostics)
  return {
    type: 'forward',
    ...target,
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(queryString === undefined ? {} : { queryString }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(upgrade === undefined ? {} : { upgrade }),
    ...(credential === undefined ? {} : { credential }),
    ...(hostHeader === undefined ? {} : { hostHeader }),
  }
}

/** A host that any client may choose, or one beside our own authentication, is not for an upstream to believe. */
const compileHostHeader = (
  map: FoldedMap,
  { hasNamelessHost }: ForwardDeps,
  diagnostics: Diagnostics,
): 'request' | undefined => {
  const pointer = childPointer(map.pointer, 'host_header')
  const template = map.get('host_header')
  const value = template && readOneOf(template, pointer, HOST_HEADERS, diagnostics)
  if (value !== 'request') return undefined
  const message = map.keys.includes('credential')
    ? "the gateway authenticates with a credential at the host of the action, which must see its own name: leave out one of the two, or write 'upstream'"
    : "the document is on '_', so that clients may name any host: write the hosts of the document, or 'upstream'"
  if (map.keys.includes('credential') || hasNamelessHost)
    diagnostics.problem('invalid_value', pointer, message)
  return value
}

/** A handshake is a GET without a body (RFC 6455 §4.1), and goes to the upstream as one. */
const compileUpgrade = (
  map: FoldedMap,
  method: Method,
  diagnostics: Diagnostics,
): ForwardAction['upgrade'] => {
  const template = map.get('upgrade')
  if (template === undefined) return undefined
  const pointer = childPointer(map.pointer, 'upgrade')
  const protocols = readTexts(template, pointer, ['websocket'] as const, diagnostics)
  if (method !== 'get')
    diagnostics.problem(
      'invalid_value',
      pointer,
      'WebSockets are opened by GET: set upgrade in the action of get',
    )
  for (const key of ['body', 'http_method'])
    if (map.keys.includes(key))
      diagnostics.problem(
        'invalid_value',
        childPointer(map.pointer, key),
        `an action with upgrade has no ${key}: the handshake of a WebSocket goes on as the GET that it is`,
      )
  return protocols?.[0]
}

const compileTarget = (map: FoldedMap, diagnostics: Diagnostics): ForwardTarget | undefined => {
  if (!map.keys.includes('hosts')) {
    const host = requiredText(map, ['host'], diagnostics)
    return host && { host }
  }
  if (map.keys.includes('host'))
    diagnostics.problem(
      'invalid_value',
      childPointer(map.pointer, 'host'),
      'an action has either host or hosts, not both',
    )
  const template = map.get('hosts')
  const hosts = template && compileHosts(template, childPointer(map.pointer, 'hosts'), diagnostics)
  return hosts && { hosts }
}

export const mapForward = <A, B>(
  action: ForwardAction<A>,
  change: (template: A) => B,
): ForwardAction<B> => {
  const members: ForwardMembers<B> = {
    type: 'forward',
    ...(action.method === undefined ? {} : { method: action.method }),
    ...(action.upgrade === undefined ? {} : { upgrade: action.upgrade }),
    ...(action.credential === undefined ? {} : { credential: action.credential }),
    ...(action.hostHeader === undefined ? {} : { hostHeader: action.hostHeader }),
    ...mapMembers(action, OPTIONAL_MEMBERS, change),
  }
  if (action.hosts === undefined) return { ...members, host: change(action.host) }
  const hosts = action.hosts.map(({ host, weight }) => ({
    host: change(host),
    weight: change(weight),
  }))
  return { ...members, hosts }
}

const OPTIONAL_MEMBERS = ['path', 'queryString', 'headers', 'body'] as const

/** What a forward takes from the request by itself. */
export const forwardReads = ({ path, queryString }: ForwardAction): readonly ContextRead[] => [
  ...(path === undefined ? (['request.path'] as const) : []),
  ...(queryString === undefined ? (['request.query_string'] as const) : []),
]

/** A request evaluates as few of several hosts as it needs. */
export const forwardUses = (action: ForwardAction): readonly TemplateUse[] => [
  { template: action.host, keys: ['host'], isCertain: true },
  ...(action.hosts ?? []).flatMap(({ host, weight }, index) => [
    { template: host, keys: ['hosts', index, 'host'], isCertain: false },
    { template: weight, keys: ['hosts', index, 'weight'], isCertain: false },
  ]),
  { template: action.path, keys: ['path'], isCertain: true },
  { template: action.queryString, keys: ['query_string'], isCertain: true },
  { template: action.headers, keys: ['headers'], isCertain: true },
  { template: action.body, keys: ['body'], isCertain: true },
]

/** Also hosts that get no requests at present: their weight may be the next thing that changes. */
export const forwardHosts = ({ host, hosts }: ForwardAction): readonly UpstreamHost[] =>
  host === undefined
    ? hosts.map((each, index) => ({ path: `hosts/${index}/host`, template: each.host }))
    : [{ path: 'host', template: host }]

export const forwardResponse = (
  operation: CheckedResponses & { readonly action: ForwardAction },
): ActionResponse => ({
  headers: undefined,
  body: RESULT_BODY,
  givesStatus: true,
  isFixed: false,
  checksAccept: !responseNeedsOf(operation).passesThrough,
  takesBody: operation.action.body === undefined,
  events: 'none',
})
