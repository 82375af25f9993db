// Defines the interface of the OAuth 2 room: a plain request and a plain response. The server adapts to it; nothing
// here depends on a framework, a route table or a socket.

import type { IncomingHttpHeaders } from 'node:http'
import type { OAuth2Flow } from '../../language/realm/token-flows.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Audit } from '../audit.ts'
import type { AccessTokens } from '../security/tokens/access-token.ts'
import type { Passwords } from '../security/passwords/passwords.ts'
import type { SharedState } from '../shared/shared-state.ts'

/** Always a POST: other methods never reach it. */
export interface OAuthRequest {
  /** As sent, without `?`; `""` without one. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** As text, at most 64 KiB, whatever its content type. */
  readonly body: string
  /** Client address, behind trusted proxies too. */
  readonly address: string
  /** False: a trusted proxy has not named its client, and `address` is the proxy's. */
  readonly isAddressKnown: boolean
  readonly requestId: string
  /** The realm of the document that the route belongs to. */
  readonly realmUri: string
  /** The flows of the schemes that mount this endpoint. */
  readonly flows: readonly OAuth2Flow[]
}

export interface OAuthResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** The code of an error. */
  readonly code?: OAuthErrorCode
}

/** Never rejects: an unexpected error becomes a response too. */
export type OAuthHandler = (request: OAuthRequest) => Promise<OAuthResponse>

export interface OAuth2 {
  /** RFC 6749 §3.2: `password`, `client_credentials`, `refresh_token`. */
  readonly token: OAuthHandler
  /** RFC 7009. */
  readonly revoke: OAuthHandler
}

export interface OAuth2Deps {
  readonly realm: (uri: string) => RealmRecord | undefined
  readonly accessTokens: AccessTokens
  /** Whether it is a ticket of that realm, which cannot be revoked here (RFC 7009 §2.2.1). */
  readonly isTicket: (realmUri: string, jwt: string) => Promise<boolean>
  readonly passwords: Passwords
  readonly shared: SharedState
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** From a cryptographic generator. */
  readonly randomBytes: (size: number) => Buffer
  readonly audit: Audit
  readonly log: Log
}

/** RFC 6749 §5.2, RFC 7009 §2.2.1; `temporarily_unavailable` with 503, `server_error` with 500 (§4.1.2.1). */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'unsupported_token_type'
  | 'temporarily_unavailable'
  | 'server_error'
