// Says in sentences how a request was decided: what came, where it ended, why, and what to do about it.

import type { Decision, DecisionStep, MissReason, TriedRoute } from '../decisions/decision.ts'
import { FAILURE_SENTENCES } from '../http/failure-report.ts'

/** As `GET /why` has it beside the facts: people read these, programs the facts. */
export interface DecisionSentences {
  readonly came: string
  readonly decided: string
  readonly why: string
  readonly remedy: string
}

/** @example describeDecision(decision).why // "the name of the upstream can't be resolved; …" */
export const describeDecision = (decision: Decision): DecisionSentences => {
  const { step, reason, status } = decision
  const refused = refusedCredentials(decision)
  const known = refused === undefined && isFailureReason(reason) ? reason : undefined
  const words = status < 400 && known === undefined ? SUCCESS : STEPS[step]
  return {
    came: cameText(decision),
    decided: decidedText(decision),
    why: asSentences([
      refused ?? (known === undefined ? words.why : FAILURE_SENTENCES[known]),
      ...factsOf(decision),
    ]),
    remedy: known === undefined ? words.remedy : REMEDIES[known],
  }
}

/** Words such as `malformed` say something else of an upstream. */
const refusedCredentials = ({
  step,
  status,
  reason,
  claim,
  expected,
}: Decision): string | undefined => {
  if (step !== 'authenticate' || status !== 401 || reason === undefined) return undefined
  const named = claim === undefined ? '' : ` (${claim})`
  const wanted = expected === undefined ? '' : `; expected: ${expected}`
  return `the credentials do not count: ${reason}${named}${wanted}`
}

type FailureReason = keyof typeof FAILURE_SENTENCES

const isFailureReason = (reason: string | undefined): reason is FailureReason =>
  reason !== undefined && Object.hasOwn(FAILURE_SENTENCES, reason)

/** One after the other; a question keeps its mark. */
const asSentences = (parts: readonly string[]): string =>
  parts
    .map((part, at) => (at < parts.length - 1 && !part.endsWith('?') ? `${part}.` : part))
    .join(' ')

const cameText = ({ method, scheme, document, path, at, status, code, ms }: Decision): string => {
  const what = document?.path ?? path ?? 'a path'
  const end = code === undefined ? `${status}` : `${status} (${code})`
  return `${method.toUpperCase()} ${what} over ${scheme} at ${at} was answered with ${end} after ${ms} ms`
}

const decidedText = ({ step, document, pointer }: Decision): string => {
  const owner =
    document === undefined
      ? 'no document served it'
      : `${document.action} of ${document.id}, version ${document.version}, realm ${document.realm}`
  return `${STEPS[step].where}: ${owner}${pointer === undefined ? '' : `, at ${pointer}`}`
}

const factsOf = ({ upstream, attempts, detail, tried = [] }: Decision): readonly string[] => {
  const times =
    attempts === undefined ? '' : `, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return [
    ...(upstream === undefined ? [] : [`Upstream: ${upstream}${times}`]),
    ...(detail === undefined ? [] : [`Detail: ${detail}`]),
    ...tried.filter(({ matchedSegments }) => matchedSegments > 0).map(triedText),
  ]
}

const triedText = ({ host, path, document, reason }: TriedRoute): string =>
  `Nearest: ${host}${path} of ${document}, but ${MISSES[reason]}`

const MISSES = {
  segment: 'the segment after those that match is another',
  'unsafe segment': 'the request has a segment that is empty, . or ..',
  'path too short': 'the path of the request ends before it does',
  'path too long': 'the path of the request goes on after it',
  scheme: 'it is not served over this scheme',
  method: 'it has no such method',
} as const satisfies Record<MissReason, string>

interface StepWords {
  /** Where it ended. */
  readonly where: string
  readonly why: string
  readonly remedy: string
}

const SUCCESS = {
  why: 'nothing was refused',
  remedy: 'nothing: one success in a hundred is kept, too',
} as const

const STEPS = {
  head: {
    where: 'It ended where its head is read',
    why: 'the request line or a header is not what HTTP allows',
    remedy: 'mend the client: the body of the response names what is wrong',
  },
  match: {
    where: 'It ended where host and path are matched',
    why: 'no document serves this host and path',
    remedy:
      'compare the URL with `svc routes`; `svc explain METHOD URL` names the nearest route. A document that was refused is named by `svc status`',
  },
  scheme: {
    where: 'It ended where the scheme is checked',
    why: 'the path is not served over this scheme',
    remedy: 'call it over the other scheme, or add this one to `schemes` of the document',
  },
  method: {
    where: 'It ended where the method is checked',
    why: 'the path has no such method',
    remedy: 'use a method that Allow of the response names, or add this one to the document',
  },
  upgrade: {
    where: 'It ended where a WebSocket is opened',
    why: 'a WebSocket was asked for where none is taken, or none where the path takes nothing else',
    remedy: 'add `upgrade: [websocket]` to the forward, or call the path that takes WebSockets',
  },
  authenticate: {
    where: 'It ended where the caller is authenticated',
    why: 'the credentials are missing, wrong or expired',
    remedy:
      'send what `security` of the path asks for; the line of the audit log with this requestId has the reason',
  },
  requirements: {
    where: 'It ended where the rights of the caller are checked',
    why: 'the caller has none of the groups, roles or scopes that the operation asks for',
    remedy:
      'give them to the user in the Realm, or to the token; `missing` in the line of the audit log with this requestId names them',
  },
  negotiate: {
    where: 'It ended where media types are negotiated',
    why: 'Accept, or the Content-Type of the body, names no type of the operation',
    remedy: 'send one that the response names, or add the type to `provides` or `accepts`',
  },
  schema: {
    where: 'It ended where the request is checked by the JSON Schemas',
    why: 'the request is not what `schema` of the operation takes',
    remedy: 'mend the client: `errors` of the response has every place with its keyword',
  },
  body: {
    where: 'It ended where the body is read',
    why: 'the body is too large, came too slowly, or is not valid',
    remedy: 'mend the client: the response says which; a larger body needs `body_max_bytes`',
  },
  limit: {
    where: 'It ended at a limit',
    why: 'more came at a time than is allowed',
    remedy: 'let the client wait for Retry-After; raise the limit that the response names',
  },
  expression: {
    where: 'It ended at an expression of the document',
    why: FAILURE_SENTENCES.expression,
    remedy: 'give what the expression reads a default, such as `get(NAME, DEFAULT)`',
  },
  action: {
    where: 'It ended at the action',
    why: 'the action failed',
    remedy: 'look at what the action calls: the log has the line with this requestId',
  },
  response: {
    where: 'It ended with the response',
    why: 'the document, or what it calls, has chosen this status',
    remedy: 'look at the log of the upstream, or at `on_result` and `on_error` of the document',
  },
  client: {
    where: 'It ended before the response was complete',
    why: 'the client closed the connection',
    remedy: 'nothing, unless the time-out of the client is shorter than the action takes',
  },
  internal: {
    where: 'It ended in the gateway itself',
    why: 'the gateway has a fault',
    remedy: 'report it, with the line of the log that has this requestId',
  },
} as const satisfies Record<DecisionStep, StepWords>

const UPSTREAM_LOG = 'look at the log of the upstream'

const REMEDIES = {
  refused: 'start the upstream, or correct `host` with its port; is there a NetworkPolicy?',
  no_service: 'create the Service, or correct `host`',
  no_endpoints: 'see `kubectl get endpointslices`: start the Pods, or correct the selector',
  dns: 'correct `host`',
  tls: 'correct `host` and its port, or name the CA in --upstream-ca',
  denied: 'allow it by --upstream-allow or the policy of the tenant, or correct `host`',
  connect_timeout: 'correct the port, or raise `connect_timeout`',
  timeout: 'mend the upstream, or raise `timeout`',
  reset: `${UPSTREAM_LOG}; correct the port`,
  malformed: `${UPSTREAM_LOG}; correct the port`,
  overloaded: 'raise `pool_size`, or add instances of the upstream',
  aborted: 'nothing: the client has gone, or the gateway ends',
  status_502: UPSTREAM_LOG,
  status_503: UPSTREAM_LOG,
  status_504: UPSTREAM_LOG,
  credential_missing: 'correct `credential`, or `allowedNamespaces` of the credential in the Realm',
  credential_origin: 'add the origin to `origins` of the credential, or correct `host`',
  credential_token: 'see the condition of the Realm, and the log of the authorization server',
  credential_subject: 'let the authorization server trust who issued the token of the caller',
  credential_certificate: 'renew the certificate in its Secret',
  upstream_status: `${UPSTREAM_LOG}; without an on_error its response passes as it is`,
  response_head: 'mend the response of the upstream',
  partial_response: 'give the body a default, or let the upstream answer with 200',
  response_too_large: 'let the upstream send less, or let the document pass its body unread',
  undecodable: 'let the upstream send what its Content-Type says',
  no_memory: 'give the gateway more memory, or let documents pass bodies unread',
  invalid_result: 'mend the upstream, or `schema.result`',
  expression: 'give what the expression reads a default, such as `get(NAME, DEFAULT)`',
  cross_site:
    'let the page send application/json, with `cors`, or give the path another security scheme',
  rate_limit: 'let the client wait for Retry-After, or raise the limit at the pointer',
  network_connection: 'nothing, or add the network to `networks`',
  network_proxy: 'name the proxy in --trusted-proxies',
  network_forwarded: 'nothing, or add the network to `networks`',
  network_unknown: 'let the trusted proxy send X-Forwarded-For with addresses',
  signature_malformed:
    'let the sender sign as the preset or form of the signature in the Realm says',
  signature_expired: 'set the clocks of sender and gateway, or raise maxAgeSecs',
  signature_wrong: 'give sender and Realm the same secret; let nothing in between change the body',
  signature_replayed: 'nothing: a retry is signed again, with its own time',
  wamp_error: 'look at the log of the callee',
  wamp_no_session: 'see sessions in GET /realms/URI of the management API',
  wamp_no_procedure: 'start the callee, in the realm of the document, or correct `procedure`',
  wamp_timeout: 'mend the callee, or raise `timeout`',
  wamp_overloaded: 'raise `pool_size`, or start more callees',
} as const satisfies Record<FailureReason, string>
