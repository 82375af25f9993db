// One operation asked for under each security scheme: a realm, a document, and for each scheme what a caller
// sends who is let in. There is no identity provider: the ticket is issued here, with the realm's own key.

import { generateKeyPairSync, hash, type JsonWebKey, randomBytes, randomUUID } from 'node:crypto'
import { hashPassword } from '../../dataplane/security/passwords/hash-password.ts'
import { createKeyRing } from '../../language/realm/key-ring.ts'
import { createTokenKeys } from '../../dataplane/security/tokens/key-realms.ts'
import { ticketCookieName } from '../../dataplane/security/session-cookies.ts'
import { createTickets, type TicketOrder } from '../../dataplane/security/tokens/ticket.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { get, REALM, RENDERED_BODY } from './documents.ts'

const CLIENT = { username: 'client', password: 'password-of-client' } as const
const API_KEY = 'key-of-client-0123456789abcdef'
const BASIC = `Basic ${Buffer.from(`${CLIENT.username}:${CLIENT.password}`).toString('base64')}`

/** Security Objects by the first segment of the path that they guard. */
const SECURITY = {
  open: {},
  api_key: { type: 'api_key', header_name: 'x-api-key' },
  basic: { type: 'basic' },
  oauth2: { type: 'oauth2', flow: 'client_credentials' },
  oidc: { type: 'oidc', provider: 'idp' },
} as const satisfies Readonly<Record<string, object>>

export type Guarded = keyof typeof SECURITY

export const securityPath = (guarded: Guarded): string => `/v1/${guarded}/7`

export const securityDocument = (): object => ({
  id: 'bench.security',
  host: '_',
  realm_uri: REALM.uri,
  versions: {
    v1: {
      base_path: '/v1',
      paths: Object.fromEntries(
        Object.entries(SECURITY).map(([name, security]) => [
          `/${name}/:id`,
          { security, ...get({ type: 'static', body: RENDERED_BODY }) },
        ]),
      ),
    },
  },
})

/** With a key of its own, so that its tickets can be issued here. */
export const securityRealm = async (): Promise<RealmRecord> => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key: JsonWebKey = privateKey.export({ format: 'jwk' })
  return {
    ...REALM,
    authmethods: ['oidcrp', 'cookie'],
    users: [
      {
        username: CLIENT.username,
        password_hash: await hashPassword(CLIENT.password),
        groups: ['api_clients'],
      },
    ],
    api_keys: [{ key_sha256: hash('sha256', API_KEY, 'hex'), username: CLIENT.username }],
    info: {
      oidc_providers: {
        // Nothing listens there, and nothing is asked: the ticket has been issued.
        idp: {
          issuer: 'https://idp.invalid',
          client_id: 'bench',
          client_secret: 'secret-of-bench',
          redirect_uri: 'https://bench.invalid/v1/oidc/idp/callback',
        },
      },
    },
    signing_keys: [key as ValueMap],
  }
}

export type Headers = Readonly<Record<string, string>>

/**
 * What to send, by scheme; nothing for `open`.
 * @param url of a gateway that serves realm and document: the access token is its own
 */
export const credentials = async (
  url: string,
  realm: RealmRecord,
): Promise<Readonly<Record<Guarded, Headers>>> => ({
  open: {},
  api_key: { 'X-Api-Key': API_KEY },
  basic: { Authorization: BASIC },
  oauth2: { Authorization: `Bearer ${await askToken(url)}` },
  oidc: { Cookie: `${ticketCookieName(realm.uri)}=${await issueTicket(realm)}` },
})

const askToken = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/v1/oauth/token`, {
    method: 'POST',
    headers: { authorization: BASIC },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`no access token: ${response.status} ${text.slice(0, 1000)}`)
  return (JSON.parse(text) as { readonly access_token: string }).access_token
}

const TICKET_SECONDS = 3600

const issueTicket = async (realm: RealmRecord): Promise<string> => {
  const keys = createTokenKeys({
    realms: () => realm,
    uris: () => [realm.uri],
    master: createKeyRing(randomBytes),
  })
  const issuedAt = Math.floor(Date.now() / 1000)
  const order: TicketOrder = {
    authrealm: realm.uri,
    authid: 'alice@bench.invalid',
    authroles: ['staff', 'editors'],
    issued_on: 'bench',
    issued_at: issuedAt,
    expires_at: issuedAt + TICKET_SECONDS,
    scope: { realm: realm.uri, client_id: 'bench', device_id: randomUUID() },
    oidc_provider: 'idp',
    oidc_sid: randomUUID(),
    oidc_sub: randomUUID(),
  }
  const { jwt } = await createTickets({ keys, now: Date.now, newId: randomUUID }).issueTicket(order)
  return jwt
}
