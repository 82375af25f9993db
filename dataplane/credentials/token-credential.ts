// Implements the credentials whose token an authorization server gives: for the gateway itself, one for all requests, and
// in exchange for the token of each caller.

import { createHmac } from 'node:crypto'
import type { BoundedMap } from '../../base/bounded-map.ts'
import { asError } from '../../base/thrown.ts'
import type { CredentialCause, CredentialProblem } from '../../language/wire/wire.ts'
import { isWithin } from '../security/is-within.ts'
import { CallerRefusals, FORGOTTEN_MS } from './caller-refusals.ts'
import { type AuthorizationResult, type Credential, CredentialError } from './credential.ts'
import type { UpstreamToken } from './token.ts'
import type { TokenFailure, TokenSource } from './token-source.ts'

type Done = Parameters<Credential['authorize']>[1]

/** Servers restart: a failure to reach one that is over sooner is not reported. */
const LASTS_MS = 30_000

export const createClientCredential = (source: TokenSource, now: () => number): Credential => ({
  authorize: (_subject, done) => {
    authorizeWith(source, done)
  },
  prepare: () => {
    source.obtain().catch(() => undefined)
  },
  problem: () => reportable(source.failure, now()),
})

export interface ExchangeOptions {
  /** Asks the server. Rejects with a CredentialError. */
  readonly exchange: (subjectToken: string) => Promise<UpstreamToken>
  /** For one caller. */
  readonly open: (request: () => Promise<UpstreamToken>) => TokenSource
  /** The sources of all credentials, by a keyed digest of credential and token. */
  readonly sources: BoundedMap<string, TokenSource>
  /** Identifies the credential. */
  readonly id: string
  readonly key: Buffer
  readonly now: () => number
}

/** A server that has just failed for all callers is not asked for the next. */
const PAUSE_MS = 1000

/**
 * Causes that no caller can bring about. A status, what is no token and every other OAuth error may be responses to the token of
 * one caller: they stay with its source, which has a back-off of its own, and delay no other caller. Where several callers get
 * the same one they are reported: a server may say nothing else of a wrong secret or scope.
 */
const OF_ALL: ReadonlySet<CredentialCause | undefined> = new Set([
  'refused',
  'dns',
  'tls',
  'denied',
  'timeout',
  'reset',
  'invalid_client',
])

export const createExchangeCredential = ({
  exchange,
  open,
  sources,
  id,
  key,
  now,
}: ExchangeOptions): Credential => {
  let latest: TokenFailure | undefined
  const refusals = new CallerRefusals()

  const pause = (): CredentialError | undefined =>
    latest !== undefined && isWithin(PAUSE_MS, { now: now(), since: latest.lastAt })
      ? latest.error
      : undefined

  const failed = (error: CredentialError, caller: string | undefined): void => {
    if (OF_ALL.has(error.problem?.cause)) {
      latest = { error, firstAt: latest?.firstAt ?? now(), lastAt: now() }
      return
    }
    refusals.onRefused(caller, error, now())
    // It has answered, so it can be reached.
    if (latest?.error.problem?.cause !== 'invalid_client') latest = undefined
  }
  /** Only what the server says counts, not what a source repeats of it. */
  const request = async (token: string, caller: string | undefined): Promise<UpstreamToken> => {
    const paused = pause()
    if (paused !== undefined) throw paused
    try {
      const exchanged = await exchange(token)
      latest = undefined
      refusals.onGranted(caller, now())
      return exchanged
    } catch (error) {
      if (error instanceof CredentialError) failed(error, caller)
      throw error
    }
  }
  const opened = (name: string, token: string, caller: string | undefined): TokenSource => {
    const source = open(() => request(token, caller))
    sources.set(name, source)
    return source
  }
  return {
    authorize: (subject, done) => {
      const token = subject.token()
      if (token === undefined) {
        done({ ok: false, error: noSubject() })
        return
      }
      const name = createHmac('sha256', key).update(`${id} ${token}`).digest('base64url')
      const source = sources.use(name)
      const paused = source?.current() === undefined ? pause() : undefined
      if (paused === undefined) authorizeWith(source ?? opened(name, token, subject.caller), done)
      else done(spareOf(source) ?? { ok: false, error: paused })
    },
    prepare: () => undefined,
    problem: () =>
      reportable(recent(latest, now()), now()) ?? lasting(refusals.failureAt(now()), now()),
  }
}

const recent = (failure: TokenFailure | undefined, now: number): TokenFailure | undefined =>
  failure !== undefined && isWithin(FORGOTTEN_MS, { now, since: failure.lastAt })
    ? failure
    : undefined

/** A failure that concerns one caller does not last: others may have got a token meanwhile. */
const lasting = (failure: TokenFailure | undefined, now: number): CredentialProblem | undefined =>
  failure !== undefined && !isWithin(LASTS_MS, { now, since: failure.firstAt })
    ? failure.error.problem
    : undefined

const noSubject = (): CredentialError =>
  new CredentialError(
    'credential_subject',
    'the caller was authenticated by no single bearer token that could be exchanged',
  )

const spareOf = (source: TokenSource | undefined): AuthorizationResult | undefined => {
  const spare = source?.spare()
  return source && spare && authorized(source, spare)
}

const authorized = (source: TokenSource, token: UpstreamToken): AuthorizationResult => ({
  ok: true,
  authorization: source.authorizationOf(token),
})

const authorizeWith = (source: TokenSource, done: Done): void => {
  const current = source.current()
  if (current !== undefined) {
    done(authorized(source, current))
    return
  }
  source.obtain().then(
    (token) => {
      done(authorized(source, token))
    },
    (error: unknown) => {
      done({ ok: false, error: toCredentialError(error) })
    },
  )
}

const toCredentialError = (error: unknown): CredentialError =>
  error instanceof CredentialError
    ? error
    : new CredentialError('credential_token', asError(error).message)

/** What the server has decided is reported at once, what may be its restart after a while. */
const reportable = (
  failure: TokenFailure | undefined,
  now: number,
): CredentialProblem | undefined => {
  const problem = failure?.error.problem
  if (failure === undefined || problem === undefined) return undefined
  const isDecided = problem.cause === 'invalid_client' || problem.cause === 'oauth_error'
  return isDecided || !isWithin(LASTS_MS, { now, since: failure.firstAt }) ? problem : undefined
}
