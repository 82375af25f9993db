// The door of the OAuth 2 room: a request in the plainest shape in, an answer out. Whoever listens adapts to it;
// nothing here knows a framework, a route table or a socket.

import type { IncomingHttpHeaders } from 'node:http'
import type { OAuth2Flow } from '../../language/realm/token-flows.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Audit } from '../audit.ts'
import type { AccessTokens } from '../security/tokens/access-token.ts'
import type { Passwords } from '../security/passwords/passwords.ts'
import type { SharedState } from '../shared/shared-state.ts'

/** Always a POST: other methods never get here. */
export interface OAuthRequest {
  /** As sent, without `?`; `""` without one. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** As text, at most 64 KiB, whatever its content type. */
  readonly body: string
  /** Client address, behind trusted proxies too. */
  readonly address: string
  /** False: a trusted proxy has named no client, and `address` is its own. */
  readonly isAddressKnown: boolean
  readonly requestId: string
  /** Of the document that the route belongs to. */
  readonly realmUri: string
  /** Of the schemes that mount this endpoint. */
  readonly flows: readonly OAuth2Flow[]
}

export interface OAuthAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Never rejects: a fault of our own is an answer too. */
export type OAuthHandler = (request: OAuthRequest) => Promise<OAuthAnswer>

export interface OAuth2 {
  /** RFC 6749 §3.2: `password`, `client_credentials`, `refresh_token`. */
  readonly token: OAuthHandler
  /** RFC 7009. */
  readonly revoke: OAuthHandler
}

export interface OAuth2Deps {
  readonly realm: (uri: string) => RealmRecord | undefined
  readonly accessTokens: AccessTokens
  /** A ticket of that realm is a token that can't be revoked here (RFC 7009 §2.2.1). */
  readonly isTicket: (realmUri: string, jwt: string) => Promise<boolean>
  readonly passwords: Passwords
  readonly shared: SharedState
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** Of a generator fit for secrets. */
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
