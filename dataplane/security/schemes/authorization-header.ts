// Reads scheme and credentials from the Authorization header (RFC 9110 §11.6.2).

import { valuesOf } from '../../upstream/headers.ts'

export interface Authorization {
  /** Lower case; `""` if the header occurs twice, so that it matches no scheme. */
  readonly scheme: string
  /** What follows the scheme, without surrounding spaces. */
  readonly credentials: string
}

const TWICE: Authorization = { scheme: '', credentials: '' }

/**
 * undefined if there is no such header. Node keeps the first of two; a later reader of the other one would see other
 * credentials.
 * @param rawHeaders in the form of `IncomingMessage.rawHeaders`
 * @example readAuthorization(['Authorization', 'Bearer abc']) // { scheme: 'bearer', credentials: 'abc' }
 */
export const readAuthorization = (rawHeaders: readonly string[]): Authorization | undefined => {
  const [value, another] = valuesOf(rawHeaders, 'authorization')
  if (value === undefined) return undefined
  if (another !== undefined) return TWICE
  const end = value.indexOf(' ')
  if (end < 0) return { scheme: value.toLowerCase(), credentials: '' }
  return { scheme: value.slice(0, end).toLowerCase(), credentials: value.slice(end + 1).trim() }
}
