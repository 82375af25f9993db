// Makes maps of headers, as documents read them, out of lists of names and values.

import { createHeaderMap } from '../language/expression/header-map.ts'
import { setOwn, type Value, type ValueMap } from '../language/expression/value.ts'
import { withoutOwnCookies } from './own-cookies.ts'

/**
 * `request.headers`, without the gateway's own cookies: with a ticket, which is good for every API of its realm, the
 * author of a document could act as its owner. Names in lower case; repeated headers joined with `, `, cookies with `; ` (RFC 9110 §5.3, RFC 6265
 * §5.4).
 *
 * @param raw as `IncomingMessage.rawHeaders` has them
 */
export const requestHeaderMap = (raw: readonly string[]): ValueMap => {
  const map = createHeaderMap()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    if (name !== 'cookie') join(map, name, value, ', ')
    else {
      const others = withoutOwnCookies(value)
      if (others !== undefined) join(map, name, others, '; ')
    }
  }
  return map
}

/**
 * `action.result.headers`: repeated headers joined with `, `, `set-cookie` always a list. The same whether the body of the
 * response passes through or is read.
 *
 * @param pairs with names in lower case
 */
export const responseHeaderMap = (
  pairs: readonly (readonly [name: string, value: string])[],
): ValueMap => {
  const map = createHeaderMap()
  const cookies: string[] = []
  for (const [name, value] of pairs) {
    if (name === 'set-cookie') {
      cookies.push(value)
      map[name] = cookies
    } else join(map, name, value, ', ')
  }
  return map
}

const join = (map: Record<string, Value>, name: string, value: string, joint: string): void => {
  const before = Object.hasOwn(map, name) ? map[name] : undefined
  setOwn(map, name, typeof before === 'string' ? before + joint + value : value)
}
