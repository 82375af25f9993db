// Verifies a name and a password, for clients and resource owners alike.

import type { UserRecord } from '../../language/realm/record.ts'
import { OAuthError, type OAuthErrorOptions } from './oauth-error.ts'
import { findUser, type OAuth2Context } from './context.ts'

export type WrongPassword = 'wrong_password' | 'damped'

/**
 * Returns the user as the realm has it afterwards: a user whose password was changed meanwhile, or who was removed,
 * is rejected.
 * @param refusal creates the error for a wrong password; with a status and `retryAfterSeconds` if it was wrong too
 * often
 * @throws OAuthError
 */
export const checkPassword = async (
  exchange: OAuth2Context,
  username: string,
  password: string,
  refusal: (reason: WrongPassword, options?: OAuthErrorOptions) => OAuthError,
): Promise<UserRecord> => {
  const { realmUri, address, isAddressKnown } = exchange.request
  const record = exchange.endpointDeps.realm(realmUri)
  if (record === undefined) throw refusal('wrong_password')
  const from = isAddressKnown ? address : undefined
  const attempt = { record, username, password, address: () => from }
  const result = await exchange.endpointDeps.passwords.check(attempt)
  switch (result.kind) {
    case 'right': {
      const user = findUser(exchange, username)
      if (user !== undefined && user.password_hash === result.user.password_hash) return user
      throw refusal('wrong_password')
    }
    case 'wrong':
      throw refusal('wrong_password')
    case 'damped':
      throw refusal('damped', { status: 429, retryAfterSeconds: result.retryAfterSeconds })
    case 'overloaded':
      throw new OAuthError(
        'temporarily_unavailable',
        'overloaded',
        'Too many logins at once; try again',
        { retryAfterSeconds: result.retryAfterSeconds },
      )
  }
}
