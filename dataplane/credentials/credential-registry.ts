// Keeps the credentials of the realms that a process serves, open for as long as their records say the same, and looks at
// them now and then, so that their owners learn of a failure before a request does.

import { hash, randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { BoundedMap } from '../../base/bounded-map.ts'
import { credentialKind, type CredentialKind, originsOf } from '../../language/realm/credentials.ts'
import type { CredentialRecord, RealmRecord } from '../../language/realm/record.ts'
import type { FailingCredential } from '../../language/wire/wire.ts'
import type { SharedState } from '../shared/shared-state.ts'
import type { GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'
import { createCertificateCredential } from './certificate-credential.ts'
import { type AuthorizationResult, type Credential, CredentialError } from './credential.ts'
import { basicHeader, bearerHeader, createFixedCredential } from './fixed-credential.ts'
import { subjectToken } from './subject-token.ts'
import { createClientCredential, createExchangeCredential } from './token-credential.ts'
import { exchangeToken, requestClientToken } from './token-request.ts'
import { TokenSource } from './token-source.ts'
import { createTokenStore } from './token-store.ts'

export interface CredentialRegistryDeps {
  /** The record that holds now. */
  readonly realm: (uri: string) => RealmRecord | undefined
  readonly fetch: GuardedFetch
  readonly shared: Pick<SharedState, 'read' | 'cache' | 'increment'>
  /** `--upstream-ca`: PEM texts. */
  readonly extraCa: readonly string[]
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** 0 ≤ random < 1 */
  readonly random: () => number
  /** For tests; if left out, a timer. */
  readonly sleep?: (ms: number) => Promise<unknown>
}

/** One attempt of a request. */
export interface CredentialUse {
  readonly realmUri: string
  /** The credential's name. */
  readonly name: string
  /** That the attempt goes to, as `readOrigin` gives it. */
  readonly origin: string
  /** The headers of the client's request, for a token that is exchanged. */
  readonly rawHeaders: readonly string[]
  /** The security scheme that authenticated the caller. */
  readonly scheme: unknown
  /** Its name there. */
  readonly caller: unknown
}

export interface CredentialRegistry {
  /** `done` is called once, before this returns where nothing has to be waited for. */
  readonly authorize: (use: CredentialUse, done: (result: AuthorizationResult) => void) => void
  /** Opens each of a realm when it is its turn, has it get ready, and gives its trouble, if it has one. */
  readonly inspect: (realm: RealmRecord) => Iterable<FailingCredential | undefined>
}

/** Tokens of callers at once: at most 8 KiB each. */
const MAX_EXCHANGED = 4000
/** The most open credentials of all realms; the least recently used ones are closed, and opened again when they are needed. */
const MAX_OPEN = 5000

export const createCredentialRegistry = (deps: CredentialRegistryDeps): CredentialRegistry => {
  /** Keyed by what they say, so that they outlive a change of the rest of their realm. */
  const opened = new BoundedMap<string, OpenCredential>(MAX_OPEN)
  /** Keyed by record, so that a request digests nothing. A record is replaced as a whole, and is of one realm. */
  const known = new WeakMap<CredentialRecord, OpenCredential>()
  const open = createOpener(deps)

  const find = (realmUri: string, name: string, record: CredentialRecord): OpenCredential => {
    const seen = known.get(record)
    if (seen !== undefined) return seen
    const id = hash('sha256', JSON.stringify([realmUri, name, record]), 'base64url')
    const found = opened.use(id) ?? {
      credential: open(record, { id, realmUri, name }),
      origins: originsOf(record),
    }
    opened.set(id, found)
    known.set(record, found)
    return found
  }
  return {
    authorize: ({ realmUri, name, origin, rawHeaders, scheme, caller }, done) => {
      const record = credentialIn(deps.realm(realmUri), name)
      if (record === undefined) {
        done({ ok: false, error: missingCredential(name) })
        return
      }
      const { credential, origins } = find(realmUri, name, record)
      if (!origins.has(origin)) {
        done({ ok: false, error: otherOrigin(name) })
        return
      }
      const subject = {
        caller: typeof caller === 'string' ? caller : undefined,
        token: () => subjectToken(rawHeaders, scheme, realmUri),
      }
      credential.authorize(subject, done)
    },
    *inspect({ uri, credentials = {} }) {
      for (const [name, record] of Object.entries(credentials)) {
        const { credential } = find(uri, name, record)
        credential.prepare()
        const problem = credential.problem()
        yield problem && { credential: name, ...problem }
      }
    },
  }
}

interface OpenCredential {
  readonly credential: Credential
  readonly origins: ReadonlySet<string>
}

/** Own members only, so that `__proto__` is no credential. */
const credentialIn = (
  realm: RealmRecord | undefined,
  name: string,
): CredentialRecord | undefined => {
  const { credentials = {} } = realm ?? {}
  return Object.hasOwn(credentials, name) ? credentials[name] : undefined
}

export const missingCredential = (name: string): CredentialError =>
  new CredentialError(
    'credential_missing',
    `the realm has no credential '${name}', or the document may not use it`,
  )

const otherOrigin = (name: string): CredentialError =>
  new CredentialError(
    'credential_origin',
    `the host of this request is not among the origins of the credential '${name}'`,
  )

interface Place {
  /** Changes with anything that is said of the credential. */
  readonly id: string
  readonly realmUri: string
  readonly name: string
}

type Open = (record: CredentialRecord, place: Place) => Credential

const createOpener = (deps: CredentialRegistryDeps): Open => {
  const { now, random, shared, extraCa, sleep = setTimeout } = deps
  const key = randomBytes(32)
  const exchanged = new BoundedMap<string, TokenSource>(MAX_EXCHANGED)
  const times = { now, random, sleep }
  const kinds = {
    bearer: ({ bearer }) => bearer && createFixedCredential(bearerHeader(bearer)),
    basic: ({ basic }) => basic && createFixedCredential(basicHeader(basic)),
    client_credentials: ({ client_credentials: client }, { realmUri, name }) => {
      if (client === undefined) return undefined
      const { client_secret: secret, ...rest } = client
      const definition = JSON.stringify([realmUri, name, rest])
      const store = createTokenStore({ shared, definition, secret, now })
      const request = () => requestClientToken(client, deps)
      return createClientCredential(new TokenSource({ request, store, ...times }), now)
    },
    token_exchange: ({ token_exchange: client }, { id }) =>
      client &&
      createExchangeCredential({
        exchange: (subject) => exchangeToken(client, subject, deps),
        open: (request) => new TokenSource({ request, store: undefined, ...times }),
        sources: exchanged,
        id,
        key,
        now,
      }),
    certificate: ({ certificate }, { id }) =>
      certificate && createCertificateCredential(certificate, { id, extraCa, now }),
  } as const satisfies Record<
    CredentialKind,
    (record: CredentialRecord, place: Place) => Credential | undefined
  >
  return (record, place) => {
    const kind = credentialKind(record)
    const credential = kind && kinds[kind](record, place)
    // The schema says that there is one.
    if (credential === undefined) throw new Error('a credential without a kind')
    return credential
  }
}
