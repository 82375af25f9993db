// Defines a credential by which requests authenticate at upstreams, whatever its kind, and how it fails.

import { CodedError } from '../../base/coded-error.ts'
import type { CredentialProblem } from '../../language/wire/wire.ts'
import type { ClientTls } from '../upstream/upstream.ts'

/** A closed list: why a request can't be sent with a credential. */
export type CredentialFailureCode =
  | 'credential_missing' // the realm has none of that name, or the document may not use it
  | 'credential_origin' // it is not for that origin
  | 'credential_token' // the authorization server gives none
  | 'credential_subject' // the caller has no token, or the authorization server does not accept it
  | 'credential_certificate' // it has expired, is not valid yet, or can't be read

/** Its message is for the log and names no secret; `trouble` is for the owner of the realm. */
export class CredentialError extends CodedError<CredentialFailureCode> {
  readonly problem: CredentialProblem | undefined

  constructor(
    code: CredentialFailureCode,
    message: string,
    { problem, cause }: { readonly problem?: CredentialProblem; readonly cause?: unknown } = {},
  ) {
    super(code, message, cause === undefined ? undefined : { cause })
    this.problem = problem
  }
}

/** What one attempt is sent with. It must never be logged. */
export interface UpstreamAuthorization {
  /** Value of the header `authorization`. */
  readonly header?: string
  readonly tls?: ClientTls
  /** How to replace the token by another one, if it may be. */
  readonly renewal?: TokenRenewal
}

/** What upstreams say of a token. */
export interface TokenRenewal {
  /**
   * The upstream has answered with 401.
   * @returns whether `authorize` may give another token now
   */
  reject(): boolean
  /** The upstream has answered with another status. */
  accept(): void
}

export type AuthorizationResult =
  | { readonly ok: true; readonly authorization: UpstreamAuthorization }
  | { readonly ok: false; readonly error: CredentialError }

/** For a request of this caller. */
export interface CredentialSubject {
  /** Its name (`authid`); undefined: it has none. */
  readonly caller: string | undefined
  /** The bearer token that the caller was authenticated by; undefined: there is none. */
  readonly token: () => string | undefined
}

export interface Credential {
  /** `done` is called once, before this returns where nothing has to be waited for. */
  authorize(subject: CredentialSubject, done: (result: AuthorizationResult) => void): void
  /** Gets ready for requests, where that takes time, and is called again and again. */
  prepare(): void
  /** What its owner should know, before or after a request has failed for it. */
  problem(): CredentialProblem | undefined
}
