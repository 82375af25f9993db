// Composes the security half of one serving process: authentication, and the built-in endpoints for logins of people
// and programs. Rooms that no request uses are not loaded.

import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Log } from '../../telemetry/log.ts'
import type { BridgePeers } from './cluster/process-status.ts'
import { createAudit } from '../audit.ts'
import type { GatewaySettings } from '../config.ts'
import { createEndpoints, type Endpoints } from '../http/builtin/endpoints.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { OAuth2Deps } from '../oauth2/oauth2-endpoint.ts'
import type { OidcDeps } from '../oidc/oidc-endpoint.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import {
  createCredentialRegistry,
  type CredentialRegistry,
} from '../credentials/credential-registry.ts'
import { watchCredentials } from '../credentials/watch-credentials.ts'
import type { RealmRegistry } from '../realm/realm-registry.ts'
import type { Authenticate } from '../security/schemes/authentication.ts'
import { createSecurity, type Security } from '../security/create-security.ts'
import { createTokenKeys } from '../security/tokens/key-realms.ts'
import { watchKeyRing } from '../security/tokens/key-files.ts'
import { createStateKeys, type StateKeys } from '../../language/realm/key-ring.ts'
import type { TokenKeys } from '../security/tokens/token-keys.ts'
import type { SecretRings } from './security-state.ts'
import type { RateLimiter } from '../shared/rate-buckets.ts'
import { RedisLimiter } from '../shared/redis-limiter.ts'
import { createRedisState, type RedisState } from '../shared/redis-state.ts'
import type { SharedState } from '../shared/shared-state.ts'
import type { GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'

export interface ServingSecurityOptions {
  readonly settings: GatewaySettings
  readonly log: Log
  readonly realms: RealmRegistry
  readonly metrics: GatewayMetrics
  /** Reaches identity providers and key sets. */
  readonly fetch: GuardedFetch
  readonly rings: SecretRings
  /** Used if there is no Redis. */
  readonly shared: SharedState
  readonly peers: Pick<BridgePeers, 'healthChanged' | 'providersChanged' | 'credentialsChanged'>
  /** More CA certificates, PEM, for Redis and for upstreams that require client certificates. */
  readonly extraCa: readonly string[]
}

export interface ServingSecurity {
  readonly authenticate: Authenticate
  /** The credentials that are sent to upstreams. */
  readonly credentials: CredentialRegistry
  readonly endpoints: Endpoints
  /** Counts requests with Redis; undefined: there is none. */
  readonly limiter: RateLimiter | undefined
  close(): Promise<void>
}

export const createServingSecurity = (options: ServingSecurityOptions): ServingSecurity => {
  const { settings, log, realms, metrics, fetch, rings } = options
  const redis = openRedis(options)
  const shared = redis ?? options.shared
  const realm = (uri: string) => realms.get(uri)
  const audit = createAudit(log)
  const keys = createTokenKeys({ realms: realm, uris: () => realms.uris(), master: rings.signing })
  const security = createSecurity({
    realms: realm,
    keys,
    shared,
    audit,
    fetch,
    now: Date.now,
    random: randomBytes,
    newId: randomUUID,
    redisAway: settings.redisAway === 'accept' ? 'accept' : 'refuse',
  })
  const stateKeys = openStateKeys(options)
  const timers: NodeJS.Timeout[] = []
  const every = (ms: number, look: () => void): void => {
    timers.push(setInterval(look, ms).unref())
  }
  const credentials = openCredentials(options, { realm, shared }, every)
  const common = { realm, shared, now: Date.now, randomBytes, audit, log }
  const oidc: OidcDeps = {
    ...common,
    realmUris: () => realms.uris(),
    tickets: security.tickets,
    whenSharedAway: settings.redisAway === 'accept' ? 'allow' : 'refuse',
    fetch,
    stateKeys: stateKeys.keys,
    stateSeconds: settings.oidcStateSeconds,
    nodeName: settings.nodeName ?? hostname(),
    count: (event) => {
      metrics.count('oidc', { endpoint: event.endpoint, outcome: event.outcome })
    },
    watch: {
      report: (failing) => {
        options.peers.providersChanged(failing)
      },
      every,
    },
  }
  const endpoints = openEndpoints(settings, keys, oidc, oauth2Deps(common, security))
  const limiter = redis && new RedisLimiter(redis.tokens, LIMITER_CLOCK)
  if (limiter !== undefined)
    every(TICK_MS, () => {
      limiter.tick()
    })
  metrics.gauge('sharedState', () => {
    const isThere = shared.health === 'ok' && limiter?.isAway !== true
    return [[{ home: homeOf(settings) }, isThere ? 1 : 0]]
  })
  return {
    authenticate: security.authenticate,
    credentials,
    endpoints,
    limiter,
    close: async () => {
      stateKeys.close()
      for (const timer of timers) clearInterval(timer)
      // What was passed in is closed by its owner.
      await redis?.close()
    },
  }
}

const openCredentials = (
  { fetch, realms, extraCa, peers }: ServingSecurityOptions,
  common: Pick<OidcDeps, 'realm' | 'shared'>,
  every: (ms: number, look: () => void) => void,
): CredentialRegistry => {
  const now = Date.now
  const credentials = createCredentialRegistry({
    ...common,
    fetch,
    extraCa,
    now,
    random: Math.random,
  })
  watchCredentials({
    credentials,
    realms: () => realmsOf(realms),
    report: (failing) => {
      peers.credentialsChanged(failing)
    },
    now,
    every,
  })
  return credentials
}

const realmsOf = (realms: RealmRegistry): readonly RealmRecord[] =>
  [...realms.uris()].map((uri) => realms.get(uri)).filter((record) => record !== undefined)

const homeOf = ({ redis }: GatewaySettings): string => (redis === null ? 'memory' : 'redis')

/** Each process has its own connection to Redis, so that a process that cannot reach it notices by itself. */
const openRedis = (options: ServingSecurityOptions): RedisState | undefined => {
  const { settings, log, extraCa, peers } = options
  if (settings.redis === null) return undefined
  const shared = createRedisState({
    url: settings.redis,
    id: randomUUID(),
    now: Date.now,
    extraCa,
    onError: (reason) => {
      log.warn('Redis cannot be reached', { reason, whileAway: settings.redisAway })
    },
  })
  const reportHealth = (): void => {
    peers.healthChanged(shared.health)
  }
  shared.onHealth(reportHealth)
  reportHealth()
  return shared
}

const TICK_MS = 250

const LIMITER_CLOCK = {
  now: () => performance.now(),
  /** Once what has arrived is read: a process that was busy for so long takes no reply for late. */
  after: (ms: number, callback: () => void) => {
    const timer = setTimeout(() => setImmediate(callback), ms)
    return () => {
      clearTimeout(timer)
    }
  },
}

interface OpenedStateKeys {
  readonly keys: () => StateKeys
  close(): void
}

/** Every process reads the file, so that all have the same keys and a new one is used within moments. */
const openStateKeys = ({ settings, rings, log }: ServingSecurityOptions): OpenedStateKeys => {
  const path = settings.oidcStateKeysFile
  let current = createStateKeys(rings.oidcState)
  const watch =
    path === null
      ? undefined
      : watchKeyRing({
          path,
          onRing: (ring) => {
            current = createStateKeys(ring)
          },
          onFailure: (error) => {
            log.error(
              'cannot read the keys of --oidc-state-keys-file; the previous ones stay in use',
              { path, error },
            )
          },
        })
  return {
    keys: () => current,
    close: () => watch?.close(),
  }
}

const oauth2Deps = (
  common: Pick<OidcDeps, 'realm' | 'shared' | 'now' | 'randomBytes' | 'audit' | 'log'>,
  { accessTokens, passwords, tickets }: Security,
): OAuth2Deps => ({
  ...common,
  accessTokens,
  passwords,
  isTicket: async (realmUri, jwt) =>
    (await tickets.verifyTicket(realmUri, jwt, { ignoreExpiry: true })) !== undefined,
})

const openEndpoints = (
  settings: GatewaySettings,
  tokenKeys: TokenKeys,
  oidc: OidcDeps,
  oauth2: OAuth2Deps,
): Endpoints =>
  createEndpoints({
    loadOidc: async () => (await import('../oidc/create-oidc.ts')).createOidc(oidc),
    loadOAuth2: async () => (await import('../oauth2/oauth2.ts')).createOAuth2(oauth2),
    tokenKeys,
    ownOrigin: settings.baseUrl ?? undefined,
  })
