// What the endpoints of the gateway's own are made of: the rooms behind them, loaded when they are asked for.

import type { OAuth2 } from '../../oauth2/oauth2-endpoint.ts'
import type { Oidc } from '../../oidc/oidc-endpoint.ts'
import type { TokenKeys } from '../../security/token-keys.ts'

export interface EndpointDeps {
  /** Each is called once; what it rejects with is logged, and it is called again at the next request. */
  readonly loadOidc: () => Promise<Oidc>
  readonly loadOAuth2: () => Promise<OAuth2>
  readonly tokenKeys: Pick<TokenKeys, 'publicKeys'>
  /** `--base-url`. */
  readonly ownOrigin: string | undefined
}
