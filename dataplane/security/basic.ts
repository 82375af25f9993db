// The Basic scheme (RFC 7617): the header in, a user of the realm or a refusal out.

import { isUtf8 } from 'node:buffer'
import type { Attempt, Authenticator, Outcome } from './attempt.ts'
import { notAccepted, notPresented } from './attempt.ts'
import { readAuthorization } from './authorization-header.ts'
import { tooManyFailures, uncheckable } from './challenge.ts'
import { userIdentity } from './identity.ts'
import type { Passwords, PasswordVerdict } from './passwords.ts'

export const createBasic =
  (passwords: Passwords): Authenticator =>
  (attempt) => {
    const { record, address } = attempt
    const authorization = readAuthorization(attempt.rawHeaders)
    if (authorization?.scheme !== 'basic') return notPresented('basic', record.uri)
    const given = readBasic(authorization.credentials)
    if (given === undefined) return notAccepted('basic', record.uri, 'malformed_credentials')
    const verdict = passwords.check({ record, ...given, address })
    return verdict instanceof Promise
      ? verdict.then((late) => toOutcome(late, attempt, given.username))
      : toOutcome(verdict, attempt, given.username)
  }

export interface BasicCredentials {
  readonly username: string
  readonly password: string
}

/** More than anybody types; each is hashed. */
const MAX_LENGTH = 4096

/**
 * UTF-8 (RFC 7617 §2.1), split at the first colon. undefined for broken base64 or UTF-8, no colon, no name, and
 * control characters.
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

const toOutcome = (verdict: PasswordVerdict, { record }: Attempt, username: string): Outcome => {
  switch (verdict.kind) {
    case 'right':
      return { kind: 'identity', identity: userIdentity('basic', record.uri, verdict.user) }
    case 'wrong':
      return notAccepted('basic', record.uri, verdict.reason, username)
    case 'damped':
      return {
        kind: 'refused',
        error: tooManyFailures(verdict.retryAfterSeconds),
        reason: 'too_many_failures',
        authid: username,
      }
    case 'overloaded':
      return {
        kind: 'refused',
        error: uncheckable('Too many passwords are being checked', verdict.retryAfterSeconds),
        reason: 'overloaded',
        authid: username,
      }
  }
}
