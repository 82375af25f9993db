// The door of the security room: a request and what an operation demands in, who sends it or a refusal out.
// Fails closed: whoever can't be checked is refused.

import type { IncomingMessage } from 'node:http'
import type { SchemeName, SecurityScheme } from '../../../language/compile/security.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

/** What of a request authentication looks at. */
export interface Caller {
  readonly request: IncomingMessage
  /** Of the client itself, behind trusted proxies too: what failures are counted by. */
  readonly address: string
  /** False: a trusted proxy has named no client, and `address` is its own. */
  readonly isAddressKnown: boolean
  readonly requestId: string
}

/** `context.security` (behaviour §6). Names are snake_case: expressions read them. */
export interface Identity extends ValueMap {
  readonly type: SchemeName
  readonly realm_uri: string
  readonly authid: string
  readonly username: string
  /** `password`, `api_key`, `oauth2`, `oidcrp`. */
  readonly authmethod: string
  readonly authroles: readonly string[]
  readonly groups: readonly string[]
  /** `""` where the scheme has none. */
  readonly client_id: string
  /** Id of the ticket or token; `""` where there is none. */
  readonly session: string
  /** Of a ticket `{realm, client_id, device_id}`; of a token the scopes as a list. */
  readonly scope: ValueMap | readonly string[]
  readonly locale: string
  /** The realm user's; `{}` where there is none. */
  readonly meta: ValueMap
}

export type Verdict =
  | { readonly kind: 'identity'; readonly identity: Identity }
  /** A GatewayError: 401 with its challenge, 403, 429, 503. */
  | { readonly kind: 'refused'; readonly error: Error }

/**
 * At once where nothing has to be waited for: a credential that was verified before. Never rejects.
 */
export type Authenticate = (
  security: SecurityScheme,
  realmUri: string,
  caller: Caller,
) => Verdict | Promise<Verdict>
