// The Authorization header as it came in, its scheme and credentials out (RFC 9110 §11.6.2). Pure.

import { valuesOf } from '../../upstream/headers.ts'

export interface Authorization {
  /** Lower case; `""` where the header stands twice, so that it is of no scheme at all. */
  readonly scheme: string
  /** What follows the scheme, without blanks around it. */
  readonly credentials: string
}

const TWICE: Authorization = { scheme: '', credentials: '' }

/**
 * undefined where there is no such header. Node keeps the first of two; who reads the other one next would see
 * somebody else's credentials.
 * @param rawHeaders as `IncomingMessage.rawHeaders` has them
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
