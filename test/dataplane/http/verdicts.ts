// Verdicts of an authenticator that a test plays by itself.

import type {
  Identity,
  AuthenticateResult,
} from '../../../dataplane/security/schemes/authentication.ts'

export const identityOf = (more: Partial<Identity> = {}): Identity => ({
  type: 'basic',
  realm_uri: 'com.acme',
  authid: 'alice',
  username: 'alice',
  authmethod: 'password',
  authroles: ['staff'],
  groups: ['staff'],
  client_id: '',
  session: '',
  scope: [],
  locale: '',
  meta: {},
  claims: {},
  ...more,
})

export const accepted = (more: Partial<Identity> = {}): AuthenticateResult => ({
  kind: 'identity',
  identity: identityOf(more),
})

export const refused = (error: Error): AuthenticateResult => ({ kind: 'refused', error })
