// Warns of requests that failed, once a minute for each operation and reason, with the number of those that were left
// out.

import { BoundedMap } from '../../base/bounded-map.ts'
import type { FailureReason, RequestFailure } from '../actions/request-failure.ts'

export interface FailedRequest {
  readonly id: string
  /** The document. */
  readonly api: string
  readonly version: string
  /** The document's pattern, with the `base_path`. */
  readonly path: string
  readonly method: string
  /** The status of the response. */
  readonly status: number
  /** The code of the error record, or the URI of the failed action. */
  readonly code: string | undefined
  readonly failure: RequestFailure
  /** Finds what failed in the document, as a JSON pointer; if left out, the reason says enough. */
  readonly pointerOf?: (() => string | undefined) | undefined
}

export type ReportFailure = (request: FailedRequest) => void

export interface FailureReportOptions {
  /** Monotonic, milliseconds. */
  readonly now: () => number
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void
}

const QUIET_MS = 60_000
/** Most documents with recent failures, and most operations and reasons of one of them. */
const MAX_DOCUMENTS = 1000
const MAX_KINDS = 50

interface Kind {
  loggedMs: number
  /** Failures since then. */
  more: number
}

/**
 * Each document has kinds of its own, so that one that fails in many ways does not make others be logged too often.
 * What is dropped from a full map may be logged again too soon; its count is lost, which the metrics still have.
 */
export const createFailureReport = ({ now, warn }: FailureReportOptions): ReportFailure => {
  const documents = new BoundedMap<string, BoundedMap<string, Kind>>(MAX_DOCUMENTS)
  return (request) => {
    const { api, version, path, method, status, failure } = request
    if (isExpected(failure.reason, status)) return
    let kinds = documents.get(api)
    if (kinds === undefined) documents.set(api, (kinds = new BoundedMap<string, Kind>(MAX_KINDS)))
    const key = `${failure.reason} ${method} ${version} ${path}`
    const kind = kinds.get(key)
    const nowMs = now()
    if (kind !== undefined && nowMs - kind.loggedMs < QUIET_MS) {
      kind.more++
      return
    }
    kinds.set(key, { loggedMs: nowMs, more: 0 })
    const { reason, upstream, attempts, detail } = failure
    const headline = reason === 'invalid_result' ? 'invalid result' : 'request failed'
    warn(`${headline}: ${FAILURE_SENTENCES[reason]}`, {
      requestId: request.id,
      api,
      version,
      method,
      path,
      status,
      code: request.code,
      reason,
      upstream,
      attempts,
      detail,
      pointer: request.pointerOf?.(),
      more: kind?.more ?? 0,
    })
  }
}

/** Peers say no with such a status or error, and the document passes it on: nothing is broken. */
const isExpected = (reason: FailureReason, status: number): boolean =>
  status < 500 &&
  (reason === 'upstream_status' || reason === 'wamp_error' || reason === 'wamp_no_procedure')

/** What is wrong, in one sentence, as the log and `GET /why` say it. */
export const FAILURE_SENTENCES = {
  refused: 'the upstream does not accept connections; is it running, and is the port right?',
  no_service: 'the Kubernetes Service does not exist any more; is the name still right?',
  no_endpoints:
    'no Pod of the Kubernetes Service is ready; do its Pods run, and does its selector match them?',
  dns: "the name of the upstream can't be resolved; is it spelt correctly?",
  tls: 'TLS with the upstream failed; check its certificate, its name, --upstream-ca, and the client certificate if it requires one',
  denied:
    'the upstream is not an allowed destination (--upstream-allow, --upstream-deny, policies)',
  connect_timeout:
    'connecting to the upstream, its TLS handshake included, took longer than connect_timeout; is the port right?',
  timeout: 'the upstream sent nothing for longer than timeout',
  reset: 'the upstream closed the connection before its response was complete',
  malformed: 'the upstream sent what is not valid HTTP',
  overloaded: 'too many requests waited for the upstream (pool_size)',
  aborted: 'the request to the upstream was aborted',
  status_502: 'the upstream answered with status 502',
  status_503: 'the upstream answered with status 503',
  status_504: 'the upstream answered with status 504',
  credential_missing:
    'the realm has no credential of the name that the document has, or the document may not use it (allowedNamespaces)',
  credential_origin:
    'the host of the request is not among the origins of the credential; nothing was sent',
  credential_token:
    'the gateway got no token for the upstream from the authorization server of the credential',
  credential_subject:
    "the caller's token can't be exchanged for one for the upstream: see the detail",
  credential_certificate:
    'the client certificate of the credential can not be used; replace it in its Secret',
  upstream_status: 'the upstream answered with an error status',
  response_head: "the upstream sent a response head that can't be passed on",
  partial_response: 'the upstream sent a response without the whole body, which the document reads',
  response_too_large: 'the upstream sent a body that is too large for a document to read',
  undecodable: "the upstream sent a body that can't be decoded",
  no_memory: 'the memory for responses that documents read was used up',
  invalid_result:
    'the action yields what schema.result of the document does not allow; see the detail for place and keyword. It was sent all the same unless schema_mode is enforce',
  expression: 'an expression of the document could not be evaluated for this request',
  cross_site:
    "a page of another site made a browser send this request with its user's credentials; it was refused",
  rate_limit: 'a limit of the document allows no more of these requests at present',
  network_connection:
    'the address of the connection (or of its PROXY header) is in none of the networks of the document',
  network_proxy:
    "the address of the connection is in none of the networks of the document; as it sends X-Forwarded-For it may be a proxy's, which --trusted-proxies does not name",
  network_forwarded:
    'the address that a trusted proxy gives in X-Forwarded-For is in none of the networks of the document',
  network_unknown:
    'the document has networks, and the address of the client is not known: the trusted proxy in front sends no X-Forwarded-For or one that names no address, or the connection has no address',
  signature_malformed:
    'the signature of the request, or its timestamp or id, is missing, stands twice, or has another form than the signature of the realm says',
  signature_expired:
    'the timestamp of the signed request is further from now than maxAgeSecs; are the clocks right?',
  signature_wrong:
    'the signature of the request fits none of the secrets; are they the same as at the sender, and does anything in between change the body?',
  signature_replayed:
    'the same delivery, with the same timestamp, was taken before and is not taken again',
  wamp_error: 'the WAMP operation failed; see the detail for its error URI',
  wamp_no_session:
    'there is no session with the router of the realm; GET /realms/URI of the management API says why, in sessions',
  wamp_no_procedure:
    'no callee has registered the procedure at the router; is it running, in this realm, and is the procedure spelt correctly?',
  wamp_timeout: 'the WAMP operation did not finish within timeout',
  wamp_overloaded: 'too many WAMP operations were in progress (pool_size)',
} as const satisfies Record<FailureReason, string>
