// Authenticates the client of a request (RFC 6749 §2.3.1) by Basic or in the form, never both. Clients are users of
// the realm in the group `api_clients`.

import type { UserRecord } from '../../language/realm/record.ts'
import { CLIENT_GROUP } from '../../language/realm/token-flows.ts'
import { checkPassword, type WrongPassword } from './check-password.ts'
import { decodeFormText } from './parameters.ts'
import { malformed, OAuthError, type OAuthErrorOptions, TOO_MANY_FAILURES } from './oauth-error.ts'
import { findUser, isInGroup, type OAuth2Context } from './context.ts'

interface Credentials {
  readonly id: string
  readonly secret: string
}

/** @throws OAuthError `invalid_client`, the same for every reason; `invalid_request` */
export const authenticateClient = async (exchange: OAuth2Context): Promise<UserRecord> => {
  const { id, secret } = credentialsOf(exchange)
  const known = findUser(exchange, id)
  if (known !== undefined) exchange.audited.clientId = known.username
  const client = await checkPassword(exchange, id, secret, invalidClient)
  if (!isInGroup(client, CLIENT_GROUP)) throw invalidClient('not_a_client')
  return client
}

const credentialsOf = ({ request, parameters }: OAuth2Context): Credentials => {
  const { authorization } = request.headers
  const id = parameters.get('client_id')
  const secret = parameters.get('client_secret')
  if (authorization === undefined) {
    if (id === undefined || secret === undefined) throw invalidClient('no_client_credentials')
    return { id, secret }
  }
  if (secret !== undefined)
    throw malformed('The client must authenticate by Basic or in the form, not both')
  const credentials = readBasic(authorization)
  if (credentials === undefined) throw invalidClient('no_client_credentials')
  if (id !== undefined && id !== credentials.id)
    throw malformed('The form names another client than the credentials')
  return credentials
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i

/** Id and secret are encoded like form values before they are joined (RFC 6749 §2.3.1). */
const readBasic = (header: string): Credentials | undefined => {
  const text = decodeBase64(BASIC.exec(header)?.[1])
  const cut = text?.indexOf(':') ?? -1
  if (text === undefined || cut < 0) return undefined
  const id = decodeFormText(text.slice(0, cut))
  const secret = decodeFormText(text.slice(cut + 1))
  return id === undefined || id === '' || secret === undefined ? undefined : { id, secret }
}

const decodeBase64 = (base64: string | undefined): string | undefined => {
  if (base64 === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(base64, 'base64'),
    )
  } catch {
    return undefined
  }
}

const invalidClient = (
  reason: WrongPassword | 'no_client_credentials' | 'not_a_client',
  options?: OAuthErrorOptions,
): OAuthError => {
  const description =
    reason === 'damped' ? TOO_MANY_FAILURES : 'The client is not known or its secret is wrong'
  const why = reason === 'wrong_password' ? 'wrong_client_secret' : reason
  return new OAuthError('invalid_client', why, description, options)
}
