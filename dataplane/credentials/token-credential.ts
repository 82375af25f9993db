// Implements the credentials whose token an authorization server gives: for the gateway itself, one for all requests, and
// in exchange for the token of each caller.

import { createHmac } from 'node:crypto'
import type { BoundedMap } from '../../base/bounded-map.ts'
import { asError } from '../../base/thrown.ts'
import type { CredentialTrouble } from '../../language/wire/wire.ts'
import { isWithin } from '../security/is-within.ts'
import { type Credential, CredentialError } from './credential.ts'
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
  trouble: () => reportable(source.failure, now()),
})

export interface ExchangeOptions {
  /** For one caller. */
  readonly open: (subjectToken: string) => TokenSource
  /** Of all credentials, by a keyed digest of credential and token. */
  readonly sources: BoundedMap<string, TokenSource>
  /** Of the credential. */
  readonly id: string
  readonly key: Buffer
  readonly now: () => number
}

/** A failure that nobody has seen again for so long is not reported any more: without a caller nothing can be tried. */
const FORGOTTEN_MS = 600_000
/** A server that has just failed for one caller is not asked for the next. */
const PAUSE_MS = 1000

export const createExchangeCredential = ({
  open,
  sources,
  id,
  key,
  now,
}: ExchangeOptions): Credential => {
  let latest: TokenFailure | undefined

  const sourceOf = (token: string): TokenSource => {
    const name = createHmac('sha256', key).update(`${id} ${token}`).digest('base64url')
    const source = sources.use(name) ?? open(token)
    sources.set(name, source)
    return source
  }
  /** What concerns all callers. */
  const note = (error: CredentialError | undefined): void => {
    if (error === undefined) latest = undefined
    else if (error.trouble !== undefined)
      latest = { error, firstAt: latest?.firstAt ?? now(), lastAt: now() }
  }
  return {
    authorize: (subject, done) => {
      const token = subject.token()
      if (token === undefined) {
        done({ ok: false, error: noSubject() })
        return
      }
      if (latest !== undefined && isWithin(PAUSE_MS, { now: now(), since: latest.lastAt })) {
        done({ ok: false, error: latest.error })
        return
      }
      authorizeWith(sourceOf(token), (result) => {
        note(result.ok ? undefined : result.error)
        done(result)
      })
    },
    prepare: () => undefined,
    trouble: () =>
      latest !== undefined && isWithin(FORGOTTEN_MS, { now: now(), since: latest.lastAt })
        ? reportable(latest, now())
        : undefined,
  }
}

const noSubject = (): CredentialError =>
  new CredentialError(
    'credential_subject',
    'the caller was authenticated by no single bearer token that could be exchanged',
  )

const authorizeWith = (source: TokenSource, done: Done): void => {
  const current = source.current()
  if (current !== undefined) {
    done({ ok: true, authorization: source.authorizationOf(current) })
    return
  }
  source.obtain().then(
    (token) => {
      done({ ok: true, authorization: source.authorizationOf(token) })
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
): CredentialTrouble | undefined => {
  const trouble = failure?.error.trouble
  if (failure === undefined || trouble === undefined) return undefined
  const isDecided = trouble.cause === 'invalid_client' || trouble.cause === 'oauth_error'
  return isDecided || !isWithin(LASTS_MS, { now, since: failure.firstAt }) ? trouble : undefined
}
