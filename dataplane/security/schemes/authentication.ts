// Defines the interface of authentication: who sends a request, or why it is rejected. It fails closed: a caller that
// cannot be verified is rejected.

import type { IncomingMessage } from 'node:http'
import type { CompiledSecurity, SchemeName } from '../../../language/compile/security.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

/** The parts of a request that authentication uses. */
export interface Caller {
  readonly request: IncomingMessage
  /** The address of the client itself, behind trusted proxies too: failures are counted by it. */
  readonly address: string
  /** False: a trusted proxy has not named its client, and `address` is the proxy's. */
  readonly isAddressKnown: boolean
  /** False also where what names the client can't be read, and where a PROXY header names none. */
  readonly isAddressRead: boolean
  /** A trusted proxy says the address. */
  readonly isForwarded: boolean
  readonly requestId: string
  /** What a signature covers beside the headers; if left out, there is none to verify. */
  readonly whole?: WholeRequest
}

/** The parts of a request that only a signature of all of it needs. */
export interface WholeRequest {
  /** Without the question mark, as it came. */
  readonly query: string
  /** The bytes as they came, read within the limits of the operation. Rejects with a GatewayError. */
  readBody(): Promise<Uint8Array>
  /** Calls the listener with the status of the response, once. */
  onAnswered(listener: (status: number) => void): void
}

/** `context.security` (behaviour §6). Names are snake_case: expressions read them. */
export interface Identity extends ValueMap {
  readonly type: SchemeName
  readonly realm_uri: string
  readonly authid: string
  readonly username: string
  /** `password`, `api_key`, `oauth2`, `oidcrp`, `hmac`. */
  readonly authmethod: string
  readonly authroles: readonly string[]
  readonly groups: readonly string[]
  /** `""` if the scheme has none. */
  readonly client_id: string
  /** Id of the ticket or token; `""` if there is none. */
  readonly session: string
  /** For a ticket `{realm, client_id, device_id}`; for a token the scopes as a list. */
  readonly scope: ValueMap | readonly string[]
  readonly locale: string
  /** The realm user's; `{}` if there is none. */
  readonly meta: ValueMap
  /** What the Realm names in `claims` of the token of a provider or issuer; else `{}`. */
  readonly claims: ValueMap
}

export type AuthenticateResult =
  | { readonly kind: 'identity'; readonly identity: Identity }
  /** There are no credentials, and none are needed. */
  | { readonly kind: 'anonymous' }
  /** A GatewayError: 401 with its challenges, 403, 429, 503. */
  | {
      readonly kind: 'refused'
      readonly error: Error
      /** The response clears the cookies of the ticket. */
      readonly clearsTicket?: boolean
    }

/**
 * Synchronous if there is nothing to wait for: a credential that was verified before. Never rejects.
 */
export type Authenticate = (
  security: CompiledSecurity,
  realmUri: string,
  caller: Caller,
) => AuthenticateResult | Promise<AuthenticateResult>
