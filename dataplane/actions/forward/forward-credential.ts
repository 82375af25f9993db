// Prepares what each attempt of a forward authenticates with at its upstream, where the document names a credential of the
// realm. An attempt that can't be authorized is never sent.

import type {
  AuthorizationResult,
  CredentialError,
  CredentialFailureCode,
} from '../../credentials/credential.ts'
import {
  type CredentialRegistry,
  missingCredential,
} from '../../credentials/credential-registry.ts'
import type { Exchange } from '../performer.ts'

/**
 * Called for each attempt, with the origin that it goes to. `done` is called once, before this returns where nothing has
 * to be waited for.
 */
export type AuthorizeAttempt = (
  exchange: Pick<Exchange, 'incoming' | 'context'>,
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
