// A realm with clients and owners, real keys, passwords and shared state: what the tests of the endpoints ask.

import { randomBytes, randomUUID } from 'node:crypto'
import type { RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import { createLog } from '../../../telemetry/log.ts'
import type { AuditEvent } from '../../../dataplane/audit.ts'
import { createOAuth2 } from '../../../dataplane/oauth2/oauth2.ts'
import type {
  OAuth2,
  OAuthResponse,
  OAuthRequest,
} from '../../../dataplane/oauth2/oauth2-endpoint.ts'
import {
  createAccessTokens,
  type AccessTokens,
} from '../../../dataplane/security/tokens/access-token.ts'
import { deriveRealmKey } from '../../../language/realm/key-derivation.ts'
import { toRealmKey } from '../../../dataplane/security/tokens/key-signing.ts'
import { createPasswords, type Passwords } from '../../../dataplane/security/passwords/passwords.ts'
import { accessTokenRevocationKeys } from '../../../dataplane/security/tokens/access-token.ts'
import type { TokenKeys } from '../../../dataplane/security/tokens/token-keys.ts'
import { createTickets, type Tickets } from '../../../dataplane/security/tokens/ticket.ts'
import { MemoryState } from '../../../dataplane/shared/memory-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { cheapHash } from './cheap-hash.ts'

export const REALM = 'com.acme.shop'
export const OTHER_REALM = 'com.acme.other'
export const START_MS = Date.UTC(2026, 10, 21)

export const user = (
  username: string,
  password: string,
  groups: readonly string[],
): UserRecord => ({
  username,
  password_hash: cheapHash(password),
  groups,
})

export const USERS: readonly UserRecord[] = [
  user('app', 'app-secret', ['api_clients', 'robots']),
  user('app2', 'app2-secret', ['api_clients']),
  user('odd:id %+', 'ödd+secret:%', ['api_clients']),
  user('constructor', '__proto__', ['api_clients']),
  user('alice', 'wonderland', ['resource_owners', 'staff', 'sales dept']),
  user('__proto__', 'toString', ['resource_owners', 'hasOwnProperty']),
  user('norole', 'pw', ['staff']),
  user('notclient', 'pw', ['staff']),
]

export interface TokenRoom {
  readonly oauth2: OAuth2
  /** Replaced by `setRealm`. */
  readonly setRealm: (record: Partial<RealmRecord> | undefined) => void
  readonly shared: MemoryState
  readonly accessTokens: AccessTokens
  readonly tickets: Tickets
  readonly audited: AuditEvent[]
  readonly logged: string[]
  readonly clock: ManualClock
  readonly isGood: (jwt: string, realmUri?: string) => Promise<boolean>
}

export interface TokenRoomOptions {
  readonly shared?: (state: MemoryState) => SharedState
  readonly passwords?: Passwords
  readonly accessTokens?: (own: AccessTokens) => AccessTokens
}

export const openTokenRoom = (options: TokenRoomOptions = {}): TokenRoom => {
  const clock = createManualClock({ startMs: START_MS })
  const now = (): number => clock.now()
  const realms = new Map<string, RealmRecord>()
  const setRealm: TokenRoom['setRealm'] = (record) => {
    if (record === undefined) realms.delete(REALM)
    else realms.set(REALM, { uri: REALM, users: USERS, ...record })
  }
  setRealm({})
  realms.set(OTHER_REALM, { uri: OTHER_REALM, users: USERS })
  const memory = new MemoryState({ now })
  const shared = options.shared?.(memory) ?? memory
  const keys = testKeys()
  const own = createAccessTokens({ keys, now, newId: randomUUID })
  const tickets = createTickets({ keys, now, newId: randomUUID })
  const audited: AuditEvent[] = []
  const logged: string[] = []
  const oauth2 = createOAuth2({
    realm: (uri) => realms.get(uri),
    accessTokens: options.accessTokens?.(own) ?? own,
    isTicket: async (uri, jwt) => (await tickets.verifyTicket(uri, jwt)) !== undefined,
    passwords: options.passwords ?? createPasswords({ shared, now, random: randomBytes }),
    shared,
    now,
    randomBytes,
    audit: (event) => void audited.push(event),
    log: createLog({
      level: 'debug',
      name: 'test',
      destination: { write: (line) => void logged.push(line) },
    }),
  })
  return {
    oauth2,
    setRealm,
    shared: memory,
    accessTokens: own,
    tickets,
    audited,
    logged,
    clock,
    isGood: async (jwt, realmUri = REALM) => {
      const claims = await own.verify(realmUri, jwt)
      if (claims === undefined) return false
      return !accessTokenRevocationKeys(claims).some((key) => memory.isRevoked(key))
    },
  }
}

/** One key per realm. */
const testKeys = (): TokenKeys => {
  const master = Buffer.alloc(32, 7)
  const signingKey = (uri: string) => toRealmKey(deriveRealmKey(master, uri))
  return {
    signingKey,
    verificationKey: (uri, kid) => {
      const key = signingKey(uri)
      return key.kid === kid ? key : undefined
    },
    publicKeys: () => [],
  }
}

export type Form = Readonly<Record<string, string>>

/** Encoded as RFC 6749 §2.3.1 has it. */
export const basic = (id: string, secret: string): string => {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}

export const APP = basic('app', 'app-secret')
export const APP2 = basic('app2', 'app2-secret')

/** @param authorization null: none */
export const formRequest = (
  form: Form | string,
  authorization: string | null = APP,
  more: Partial<OAuthRequest> = {},
): OAuthRequest => ({
  query: '',
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    ...(authorization === null ? {} : { authorization }),
  },
  body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  address: '192.0.2.1',
  isAddressKnown: true,
  requestId: 'r-1',
  realmUri: REALM,
  flows: ['resource_owner_password_credentials'],
  ...more,
})

export interface TokenBody {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
  readonly error: string
  readonly error_description: string
}

export const bodyOf = (response: OAuthResponse): TokenBody => JSON.parse(response.body) as TokenBody

export const headersOf = (response: OAuthResponse): ReadonlyMap<string, string> =>
  new Map(response.headers)

export const PASSWORD_FORM = {
  grant_type: 'password',
  username: 'alice',
  password: 'wonderland',
} as const satisfies Form

/** A password grant that works: tokens of alice for the client `app`. */
export const logIn = async (endpointDeps: TokenRoom, more: Form = {}): Promise<TokenBody> =>
  bodyOf(await endpointDeps.oauth2.token(formRequest({ ...PASSWORD_FORM, ...more })))

export const refresh = (
  endpointDeps: TokenRoom,
  refreshToken: string,
  more: Form = {},
  authorization = APP,
): Promise<OAuthResponse> =>
  endpointDeps.oauth2.token(
    formRequest(
      { grant_type: 'refresh_token', refresh_token: refreshToken, ...more },
      authorization,
    ),
  )

export const revoke = (
  endpointDeps: TokenRoom,
  token: string,
  authorization = APP,
  hint?: string,
): Promise<OAuthResponse> =>
  endpointDeps.oauth2.revoke(
    formRequest({ token, ...(hint === undefined ? {} : { token_type_hint: hint }) }, authorization),
  )
