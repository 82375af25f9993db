// Defines the interface of the OIDC room: a plain request and a plain response. The server (through Express) adapts
// to it; nothing here depends on a framework, a route table or a socket.

import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '../../telemetry/log.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { Audit } from '../audit.ts'
import type { StateKeys } from '../../language/realm/key-ring.ts'
import type { ParsedCookies } from '../security/parsed-cookies.ts'
import type { Tickets } from '../security/tokens/ticket.ts'
import type { SharedState } from '../shared/shared-state.ts'
import type { GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'
import type { ProviderWatchOptions } from './provider/watch-providers.ts'

export interface OidcRequest {
  /** Upper case. */
  readonly method: string
  /** As sent, without the query. */
  readonly path: string
  /** As sent, without `?`; `""` without one. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** All cookies but tickets are read from here. */
  readonly cookies: ParsedCookies
  /** Client address, behind trusted proxies too. */
  readonly address: string
  readonly requestId: string
  /** `--base-url`; undefined if it is not set. `Host` is never used. */
  readonly ownOrigin: string | undefined
  /** The realm of the document that the route belongs to. */
  readonly realmUri: string
  /** The scheme's `provider`, otherwise `default`. */
  readonly routeProvider: string
  /** The decoded path segment of callback and back-channel logout. */
  readonly pathProvider?: string | undefined
  /** The form of a POST as text, at most 64 KiB; `""` for other methods. */
  readonly body: string
}

export interface OidcResponse {
  readonly status: number
  /** Lower-case names; `set-cookie` may occur several times. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** The code of an error. */
  readonly code?: string
}

/** Never rejects: an unexpected error becomes a response too. */
export type OidcHandler = (request: OidcRequest) => Promise<OidcResponse>

/** The server decides where they are mounted and with which methods, and handles OPTIONS. */
export interface Oidc {
  readonly login: OidcHandler
  readonly callback: OidcHandler
  readonly logout: OidcHandler
  /** OpenID Connect Back-Channel Logout 1.0. */
  readonly backChannelLogout: OidcHandler
}

export type OidcEndpointName = keyof Oidc

export interface OidcDeps {
  readonly realm: (uri: string) => RealmRecord | undefined
  /** The URIs of all realms; with `watch`, their providers are watched. */
  readonly realmUris: () => Iterable<string>
  readonly tickets: Tickets
  readonly shared: SharedState
  /** While the shared state is away: `refuse` responds with 503, `allow` continues without it. */
  readonly whenSharedAway: 'refuse' | 'allow'
  readonly fetch: GuardedFetch
  readonly stateKeys: () => StateKeys
  /** `--oidc-state-seconds`. */
  readonly stateSeconds: number
  /** `issued_on` of tickets. */
  readonly nodeName: string
  /** Unix time, milliseconds. */
  readonly now: () => number
  readonly randomBytes: (size: number) => Buffer
  readonly audit: Audit
  readonly log: Log
  readonly count: (event: OidcCount) => void
  /** If left out, failing providers are not reported. */
  readonly watch?: Pick<ProviderWatchOptions, 'report' | 'every'>
}

/** For metrics: the result of an endpoint, or a notable event. Closed vocabulary, no user data. */
export interface OidcCount {
  readonly endpoint: OidcEndpointName
  readonly outcome: OidcResult
}

export type OidcResult =
  'ok' | OidcErrorCode | 'invalid_request' | 'redirect_refused' | 'id_token_left_out'

/** specification §7.1. */
export type OidcErrorCode =
  | 'unknown_provider'
  | 'authorization_url_failed'
  | 'provider_unavailable'
  | 'missing_code_or_state'
  | 'invalid_state'
  | 'state_expired'
  | 'realm_mismatch'
  | 'token_exchange_failed'
  | 'missing_authid_claim'
  | 'ticket_issue_failed'
