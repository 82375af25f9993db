// Makes requests to token endpoints (RFC 6749 §3.2) and their responses fit what servers and openid-client expect of
// each other: both are stricter in places where nothing depends on it.

import { isMap } from '../../../language/expression/value.ts'
import { parseJson } from '../../../base/parse-json.ts'
import { encodePart } from '../url.ts'

/** A `ClientAuth` of openid-client. */
type Authenticate = (
  server: unknown,
  client: { readonly client_id: string },
  body: unknown,
  headers: Headers,
) => void

/**
 * Authenticates a client by Basic, form-encoded (RFC 6749 §2.3.1). openid-client also encodes `-`, `.`, `_` and `~`, which
 * stand for themselves, so that servers that do not decode know no client whose id is a GUID.
 *
 * @example clientSecretBasic('a~b')(server, { client_id: '1-2' }, body, headers) // Basic of `1-2:a~b`
 */
export const clientSecretBasic =
  (secret: string): Authenticate =>
  (_server, client, _body, headers) => {
    const pair = `${formEncode(client.client_id)}:${formEncode(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }

const formEncode = (text: string): string => encodePart(text).replaceAll('%20', '+')

/**
 * Takes out of the response of a token endpoint what is null, and the members that the caller does not use: openid-client
 * checks all, and would refuse a good token beside `"refresh_token": ""`.
 *
 * @example await withoutMembers(response, ['refresh_token'])
 */
export const withoutMembers = async (
  response: Response,
  unused: readonly string[],
): Promise<Response> => {
  if (response.status !== 200) return response
  const { status, headers } = response
  return new Response(withoutIn(await response.text(), unused), { status, headers })
}

const withoutIn = (text: string, unused: readonly string[]): string => {
  let body: unknown
  try {
    body = parseJson(text)
  } catch {
    // Who reads it says what is wrong.
    return text
  }
  if (!isMap(body)) return text
  const used = Object.entries(body).filter(
    ([name, value]) => value !== null && !unused.includes(name),
  )
  return JSON.stringify(Object.fromEntries(used))
}
