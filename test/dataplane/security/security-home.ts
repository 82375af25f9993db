// The security room as a process has it, over real parts: realms that a test may change, a clock that it moves.

import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AuditEvent } from '../../../dataplane/audit.ts'
import type {
  Authenticate,
  Caller,
  AuthenticateResult,
} from '../../../dataplane/security/schemes/authentication.ts'
import { createSecurity, type Security } from '../../../dataplane/security/create-security.ts'
import { createTokenKeys } from '../../../dataplane/security/tokens/key-realms.ts'
import { createKeyRing, type KeyRing } from '../../../language/realm/key-ring.ts'
import type { RedisAway } from '../../../dataplane/security/schemes/revocation-gate.ts'
import type { TicketOrder } from '../../../dataplane/security/tokens/ticket.ts'
import type { TokenKeys } from '../../../dataplane/security/tokens/token-keys.ts'
import { MemoryState } from '../../../dataplane/shared/memory-state.ts'
import type { SharedHealth, SharedState } from '../../../dataplane/shared/shared-state.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import {
  createGuardedFetch,
  type GuardedFetch,
} from '../../../dataplane/upstream/destinations/guarded-fetch.ts'
import type { CompiledSecurity, SecurityAlternative } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'

export const REALM = 'com.example.realm'

/** One alternative, or several. */
export type Demand = SecurityAlternative | CompiledSecurity

export interface SecurityHome extends Omit<Security, 'authenticate'> {
  authenticate(security: Demand, realmUri: string, caller: Caller): ReturnType<Authenticate>
  readonly keys: TokenKeys
  readonly realms: Map<string, RealmRecord>
  /** An earlier one in its place sets it back. */
  clock: ManualClock
  readonly shared: SharedState
  readonly audited: AuditEvent[]
  /** Of the shared state. */
  health: SharedHealth
  call(
    security: Demand,
    headers: readonly (readonly [string, string])[],
    more?: {
      readonly method?: string
      readonly realm?: string
      readonly address?: string
      readonly isAddressKnown?: boolean
      /** All calls of a home come over one connection unless told otherwise. */
      readonly socket?: object
    },
  ): Promise<AuthenticateResult>
}

export interface HomeOptions {
  readonly realms?: readonly RealmRecord[]
  readonly master?: KeyRing
  readonly fetch?: GuardedFetch
  readonly redisAway?: RedisAway
  readonly wrap?: (shared: SharedState) => SharedState
}

export const securityHome = ({
  realms: records = [],
  master = createKeyRing(randomBytes),
  fetch = createGuardedFetch({ guard: createGuard(), extraCa: [] }),
  redisAway = 'refuse',
  wrap = (shared) => shared,
}: HomeOptions = {}): SecurityHome => {
  const realms = new Map(records.map((record) => [record.uri, record]))
  const now = (): number => home.clock.now()
  const audited: AuditEvent[] = []
  const shared = wrap(new MemoryState({ now }))
  // Issuers and tickets have the time of the machine.
  const home = { health: 'ok' as SharedHealth, clock: createManualClock({ startMs: Date.now() }) }
  const connection = {}
  const watched: SharedState = {
    takeOnce: (...given) => shared.takeOnce(...given),
    read: (...given) => shared.read(...given),
    replace: (...given) => shared.replace(...given),
    cache: (...given) => shared.cache(...given),
    increment: (...given) => shared.increment(...given),
    revoke: (...given) => shared.revoke(...given),
    isRevoked: (key) => shared.isRevoked(key),
    get health() {
      return home.health
    },
    onHealth: () => undefined,
    close: () => shared.close(),
  }
  const keys = createTokenKeys({
    realms: (uri) => realms.get(uri),
    uris: () => realms.keys(),
    master,
  })
  const security = createSecurity({
    realms: (uri) => realms.get(uri),
    keys,
    shared: watched,
    audit: (event) => audited.push(event),
    fetch,
    now,
    random: randomBytes,
    newId: randomUUID,
    redisAway,
  })
  const authenticate: SecurityHome['authenticate'] = (demand, realmUri, caller) =>
    security.authenticate([demand].flat(), realmUri, caller)
  return Object.assign(home, {
    ...security,
    authenticate,
    keys,
    realms,
    shared: watched,
    audited,
    call: async (
      demand: Demand,
      headers: readonly (readonly [string, string])[],
      { realm = REALM, socket = connection, ...more } = {},
    ) => authenticate(demand, realm, callerOf(headers, { ...more, socket })),
  })
}

export const callerOf = (
  headers: readonly (readonly [string, string])[],
  {
    method = 'GET',
    address = '192.0.2.1',
    isAddressKnown = true,
    isAddressRead = true,
    isForwarded = false,
    socket = {},
  } = {},
): Caller => ({
  request: { method, rawHeaders: headers.flat(), socket } as unknown as IncomingMessage,
  address,
  isAddressKnown,
  isAddressRead: isAddressKnown && isAddressRead,
  isForwarded,
  requestId: 'request-1',
})

export const ticketOrder = (more: Partial<TicketOrder> = {}): TicketOrder => {
  const issuedAt = Math.floor(Date.now() / 1000)
  return {
    authrealm: REALM,
    authid: 'alice',
    authroles: ['staff', 'admins'],
    issued_on: 'node-1',
    issued_at: issuedAt,
    expires_at: issuedAt + 3600,
    scope: { realm: more.authrealm ?? REALM, client_id: 'all', device_id: 'all' },
    oidc_provider: 'corp',
    ...more,
  }
}

/** `200`, or the status that an error stands for, as errors.ts has them. */
export const statusOf = (verdict: AuthenticateResult): number => {
  if (verdict.kind !== 'refused') return 200
  const { error } = verdict
  return STATUSES[(error as unknown as { code: string }).code] ?? 500
}

const STATUSES: Readonly<Record<string, number>> = {
  'svc.error.unauthorized': 401,
  'svc.error.forbidden': 403,
  'svc.error.too_many_requests': 429,
  'svc.error.overloaded': 503,
}

export const headersOf = (verdict: AuthenticateResult): Readonly<Record<string, string>> =>
  verdict.kind !== 'refused'
    ? {}
    : (verdict.error as unknown as { headers: Readonly<Record<string, string>> }).headers
