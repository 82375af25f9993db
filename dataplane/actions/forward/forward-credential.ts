// Authorizes each attempt of a forward at its upstream where the document names a credential of the realm, and decides
// whether an attempt is repeated with another token. An attempt that can't be authorized is never sent.

import type {
  AuthorizationResult,
  CredentialError,
  CredentialFailureCode,
  TokenRenewal,
} from '../../credentials/credential.ts'
import {
  type CredentialRegistry,
  missingCredential,
} from '../../credentials/credential-registry.ts'
import type { Exchange } from '../performer.ts'

type AuthorizedExchange = Pick<Exchange, 'incoming' | 'context'>

/**
 * Called for each attempt, with the origin that it goes to. `done` is called once, before this returns where nothing has
 * to be waited for.
 */
export type AuthorizeAttempt = (
  exchange: AuthorizedExchange,
  origin: string,
  done: (result: AuthorizationResult) => void,
) => void

/** What forwards of one version authenticate with at upstreams. */
export interface ForwardCredentials extends Pick<CredentialRegistry, 'authorize'> {
  readonly mayUse: (name: string) => boolean
  /** Called for each attempt that can't be authorized. */
  readonly onFailure?: (name: string, code: CredentialFailureCode) => void
}

interface Environment {
  readonly realm?: string | undefined
  readonly credentials?: ForwardCredentials | undefined
}

/** @param name as the document has it */
export const prepareCredential = (
  name: string,
  { realm: realmUri, credentials }: Environment,
): AuthorizeAttempt => {
  const failed = (error: CredentialError): AuthorizationResult => {
    credentials?.onFailure?.(name, error.code)
    return { ok: false, error }
  }
  return ({ incoming: { rawHeaders }, context: { security } }, origin, done) => {
    if (credentials?.mayUse(name) !== true || realmUri === undefined) {
      done(failed(missingCredential(name)))
      return
    }
    const { type: scheme, authid: caller } = security
    const use = { realmUri, name, origin, rawHeaders, scheme, caller }
    credentials.authorize(use, (result) => {
      done(result.ok ? result : failed(result.error))
    })
  }
}

/** Authorizes the attempts of one request. */
export class ForwardAuthorization {
  readonly #authorize: AuthorizeAttempt
  /** Renews the token that the latest attempt was sent with. */
  #renewal: TokenRenewal | undefined
  #hasRenewed = false

  constructor(authorize: AuthorizeAttempt) {
    this.#authorize = authorize
  }

  /** Call it for each attempt, as `AuthorizeAttempt`. */
  authorize(
    exchange: AuthorizedExchange,
    origin: string,
    done: (result: AuthorizationResult) => void,
  ): void {
    this.#authorize(exchange, origin, (result) => {
      this.#renewal = result.ok ? result.authorization.renewal : undefined
      done(result)
    })
  }

  /**
   * Call it with the status of each response.
   * @returns true, once at most: the upstream has rejected the token and there may be another one, with which the
   * request is to be sent again
   */
  needsAnotherToken(statusCode: number, canResend: boolean): boolean {
    if (this.#renewal === undefined) return false
    if (statusCode !== 401) {
      this.#renewal.accept()
      return false
    }
    // Also where this request can't be sent again: the next one gets another token.
    const mayBeAnother = this.#renewal.reject()
    if (!mayBeAnother || this.#hasRenewed || !canResend) return false
    this.#hasRenewed = true
    return true
  }
}
