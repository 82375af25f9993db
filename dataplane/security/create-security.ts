// Composes the security room: what issues and what verifies credentials, over the same keys and limits.

import { type AccessTokens, createAccessTokens } from './tokens/access-token.ts'
import type { Authenticate } from './schemes/authentication.ts'
import { type AuthenticateDeps, createAuthenticate } from './schemes/create-authenticate.ts'
import { createCredentialVerifier, type VerifierDeps } from './schemes/credential-verifier.ts'
import { createPasswords, type Passwords } from './passwords/passwords.ts'
import { createTickets, type Tickets } from './tokens/ticket.ts'

export interface Security {
  readonly authenticate: Authenticate
  readonly tickets: Tickets
  readonly accessTokens: AccessTokens
  readonly passwords: Passwords
}

export interface SecurityDeps
  extends AuthenticateDeps, Omit<VerifierDeps, 'passwords' | 'tickets' | 'accessTokens'> {
  /** As `randomBytes` of node:crypto. */
  readonly random: (size: number) => Buffer
  /** UUID v4, as `randomUUID` of node:crypto. */
  readonly newId: () => string
}

/** One for a process. @example const { authenticate, tickets } = createSecurity(deps) */
export const createSecurity = (deps: SecurityDeps): Security => {
  const { keys, shared, now, random, newId } = deps
  const tickets = createTickets({ keys, now, newId })
  const accessTokens = createAccessTokens({ keys, now, newId })
  const passwords = createPasswords({ shared, now, random })
  const verify = createCredentialVerifier({ ...deps, tickets, accessTokens, passwords })
  const authenticate = createAuthenticate(deps, verify)
  return { authenticate, tickets, accessTokens, passwords }
}
