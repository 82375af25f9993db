// Implements the Basic scheme (RFC 7617): it finds the user of the realm whose name and password a header has.

import { isUtf8 } from 'node:buffer'
import type { UserRecord } from '../../../language/realm/record.ts'
import {
  type Authenticator,
  notAccepted,
  notPresented,
  type AuthenticationResult,
} from './authenticator.ts'
import type { Identity } from './authentication.ts'
import { readAuthorization } from './authorization-header.ts'
import { tooManyFailures, uncheckable } from './challenge.ts'
import { userIdentity } from './identity.ts'
import type { Passwords, PasswordResult } from '../passwords/passwords.ts'

export const createBasic = (passwords: Passwords): Authenticator => {
  const identityOf = createIdentities()

  const toAuthenticationResult = (
    result: PasswordResult,
    realmUri: string,
    username: string,
  ): AuthenticationResult => {
    if (result.kind === 'right') {
      const validity = { until: result.until, revocationKeys: [] }
      return { kind: 'identity', identity: identityOf(realmUri, result.user), validity }
    }
    // What is no user's name may be a password, typed into the wrong field.
    const isUser = result.kind === 'wrong' ? result.reason === 'wrong_password' : result.isUser
    const authid = isUser ? username : undefined
    if (result.kind === 'wrong') return notAccepted('basic', realmUri, result.reason, authid)
    const { retryAfterSeconds } = result
    const isDamped = result.kind === 'damped'
    return {
      kind: 'refused',
      error: isDamped
        ? tooManyFailures(retryAfterSeconds)
        : uncheckable('Too many passwords are being checked', retryAfterSeconds),
      reason: isDamped ? 'too_many_failures' : 'overloaded',
      ...(authid === undefined ? {} : { authid }),
    }
  }

  return ({ record, rawHeaders, address }) => {
    const authorization = readAuthorization(rawHeaders)
    if (authorization?.scheme !== 'basic') return notPresented('basic', record.uri)
    const given = readBasic(authorization.credentials)
    if (given === undefined) return notAccepted('basic', record.uri, 'malformed_credentials')
    const result = passwords.check({ record, ...given, address })
    return result instanceof Promise
      ? result.then((late) => toAuthenticationResult(late, record.uri, given.username))
      : toAuthenticationResult(result, record.uri, given.username)
  }
}

export interface BasicCredentials {
  readonly username: string
  readonly password: string
}

/** Longer than any real password; each attempt is hashed. */
const MAX_LENGTH = 4096

/**
 * UTF-8 (RFC 7617 §2.1), split at the first colon. undefined for invalid base64 or UTF-8, no colon, no name, and
 * control characters.
 * @internal
 * @example readBasic('YWxpY2U6cGFzczp3b3Jk') // { username: 'alice', password: 'pass:word' }
 */
export const readBasic = (credentials: string): BasicCredentials | undefined => {
  if (credentials.length > MAX_LENGTH) return undefined
  const bytes = Buffer.from(credentials, 'base64')
  if (bytes.toString('base64') !== credentials || !isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1 || CONTROL.test(text)) return undefined
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

const CONTROL = /\p{Cc}/u

/** Creates each identity once for each user of a realm. */
const createIdentities = (): ((realmUri: string, user: UserRecord) => Identity) => {
  const known = new WeakMap<UserRecord, Identity>()
  return (realmUri, user) => {
    const before = known.get(user)
    if (before?.realm_uri === realmUri) return before
    const identity = userIdentity({ type: 'basic', authmethod: 'password' }, realmUri, user)
    known.set(user, identity)
    return identity
  }
}
