// The whole room with real tickets, state keys and shared state, and a browser that keeps its cookies, for
// tests.

import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { decodeJwt } from 'jose'
import type { AuditEvent } from '../../../dataplane/audit.ts'
import { createOidc } from '../../../dataplane/oidc/create-oidc.ts'
import type {
  Oidc,
  OidcResponse,
  OidcCount,
  OidcDeps,
  OidcRequest,
} from '../../../dataplane/oidc/oidc-endpoint.ts'
import { createTokenKeys } from '../../../dataplane/security/tokens/key-realms.ts'
import { parseCookies } from '../../../dataplane/security/parsed-cookies.ts'
import { createKeyRing, createStateKeys, type KeyRing } from '../../../language/realm/key-ring.ts'
import { createTickets, ticketRevocationKeys } from '../../../dataplane/security/tokens/ticket.ts'
import { MemoryState } from '../../../dataplane/shared/memory-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createGuardedFetch } from '../../../dataplane/upstream/destinations/guarded-fetch.ts'
import type { OidcProviderRecord, RealmRecord } from '../../../language/realm/record.ts'
import type { Log } from '../../../telemetry/log.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { CLIENT } from './fake-provider.ts'

export const REALM = 'com.example.realm'
export const OWN = 'https://api.example.com'

export interface TestRoom {
  readonly oidc: Oidc
  readonly realms: Map<string, RealmRecord>
  readonly tickets: OidcDeps['tickets']
  readonly shared: SharedState
  readonly clock: ManualClock
  readonly audits: AuditEvent[]
  readonly counts: OidcCount[]
  /** Everything that was logged, as text. */
  readonly logged: string[]
  isRevoked(jwt: string): Promise<boolean>
}

export interface RoomOptions extends Partial<OidcDeps> {
  /** Of another gateway: replicas share both. */
  readonly rings?: Rings
}

export interface Rings {
  readonly state: KeyRing
  readonly master: KeyRing
}

export const newRings = (): Rings => ({
  state: createKeyRing(randomBytes),
  master: createKeyRing(randomBytes),
})

export const openRoom = ({ rings = newRings(), ...deps }: RoomOptions = {}): TestRoom => {
  const realms = new Map<string, RealmRecord>()
  // A whole second about now: providers have the time of the machine.
  const clock = createManualClock({ startMs: Math.floor(Date.now() / 1000) * 1000 })
  const now = (): number => clock.now()
  const shared = deps.shared ?? new MemoryState({ now })
  const audits: AuditEvent[] = []
  const counts: OidcCount[] = []
  const logged: string[] = []
  const keys = createTokenKeys({
    realms: (uri) => realms.get(uri),
    uris: () => realms.keys(),
    master: rings.master,
  })
  const tickets = createTickets({ keys, now, newId: randomUUID })
  const oidc = createOidc({
    realm: (uri) => realms.get(uri),
    realmUris: () => realms.keys(),
    tickets,
    shared,
    whenSharedAway: 'refuse',
    fetch: createGuardedFetch({ guard: createGuard(), extraCa: [] }),
    stateKeys: () => createStateKeys(rings.state),
    stateSeconds: 600,
    nodeName: 'node-1',
    now,
    randomBytes,
    audit: (event) => audits.push(event),
    log: recordingLog(logged),
    count: (event) => counts.push(event),
    ...deps,
  })
  const isRevoked = async (jwt: string): Promise<boolean> => {
    const realmUri = (decodeJwt(jwt)['authrealm'] as string | undefined) ?? ''
    const claims = await tickets.verifyTicket(realmUri, jwt, { ignoreExpiry: true })
    if (claims === undefined) throw new Error('no ticket of ours')
    return ticketRevocationKeys(claims).some((key) => shared.isRevoked(key))
  }
  return { oidc, realms, tickets, shared, clock, audits, counts, logged, isRevoked }
}

export const providerRecord = (
  issuer: string,
  more: Partial<OidcProviderRecord> = {},
): OidcProviderRecord => ({
  issuer,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  redirect_uri: `${OWN}/v1/oidc/corp/callback`,
  allow_unsafe_http: true,
  ...more,
})

export const realmRecord = (
  uri: string,
  providers: Readonly<Record<string, OidcProviderRecord>>,
): RealmRecord => ({
  uri,
  authmethods: ['oidcrp', 'cookie'],
  info: { oidc_providers: providers },
})

/** Cookies are those of its header, as the router of the endpoints reads them. */
export const requestOf = (more: Partial<OidcRequest> = {}): OidcRequest => ({
  method: 'GET',
  path: '/v1/oidc/login',
  query: '',
  headers: {},
  cookies: parseCookies(['Cookie', more.headers?.cookie ?? '']),
  address: '203.0.113.7',
  requestId: 'req-1',
  ownOrigin: undefined,
  realmUri: REALM,
  routeProvider: 'corp',
  body: '',
  ...more,
})

export const headerOf = ({ headers }: OidcResponse, name: string): string | undefined =>
  headers.find(([each]) => each === name)?.[1]

export const setCookies = ({ headers }: OidcResponse): readonly string[] =>
  headers.filter(([name]) => name === 'set-cookie').map(([, line]) => line)

/** Keeps cookies by name alone, and says what current browsers say of themselves. */
export class Browser {
  readonly jar = new Map<string, string>()

  headers(): IncomingHttpHeaders {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    return { 'sec-fetch-site': 'cross-site', ...(cookie !== '' && { cookie }) }
  }

  take(response: OidcResponse): OidcResponse {
    for (const line of setCookies(response)) {
      const [pair = '', ...attributes] = line.split('; ')
      const at = pair.indexOf('=')
      if (attributes.includes('Max-Age=0')) this.jar.delete(pair.slice(0, at))
      else this.jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  async login(endpointDeps: TestRoom, more: Partial<OidcRequest> = {}): Promise<OidcResponse> {
    return this.take(await endpointDeps.oidc.login(requestOf({ headers: this.headers(), ...more })))
  }

  async callback(
    endpointDeps: TestRoom,
    query: URLSearchParams | string,
    more: Partial<OidcRequest> = {},
  ): Promise<OidcResponse> {
    const request = requestOf({
      path: '/v1/oidc/corp/callback',
      pathProvider: 'corp',
      query: query.toString(),
      headers: this.headers(),
      ...more,
    })
    return this.take(await endpointDeps.oidc.callback(request))
  }

  async logout(endpointDeps: TestRoom, more: Partial<OidcRequest> = {}): Promise<OidcResponse> {
    const request = requestOf({ path: '/v1/oidc/logout', headers: this.headers(), ...more })
    return this.take(await endpointDeps.oidc.logout(request))
  }

  ticket(realmUri = REALM): string {
    return this.jar.get(`svc_ticket_${realmUri}`) ?? ''
  }
}

const recordingLog = (logged: string[]): Log => {
  const line = (message: string, fields?: unknown): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`)
  }
  return {
    debug: line,
    info: line,
    warn: line,
    error: line,
    child: () => recordingLog(logged),
  }
}
