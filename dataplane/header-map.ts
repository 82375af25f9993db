// Makes maps of headers, as documents read them, out of lists of names and values.

import { createHeaderMap } from '../language/expression/header-map.ts'
import { setOwn, type Value, type ValueMap } from '../language/expression/value.ts'
import { readHeaderText } from './header-text.ts'
import { withoutOwnCookies } from './own-cookies.ts'

/**
 * `request.headers`, without the gateway's own cookies: with a ticket, which is good for every API of its realm, the
 * author of a document could act as its owner. Names in lower case; repeated headers joined with `, `, cookies with `; ` (RFC 9110 §5.3, RFC 6265
 * §5.4). What `Connection` names is for this hop alone (RFC 9110 §7.6.1), and thus reaches no upstream by a document.
 *
 * @param raw as `IncomingMessage.rawHeaders` has them
 */
export const requestHeaderMap = (raw: readonly string[]): ValueMap => {
  const map = createHeaderMap()
  const named = namedByConnection(raw)
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    if (named?.has(name) === true) continue
    const value = readHeaderText(raw[at + 1] ?? '')
    if (name !== 'cookie') join(map, name, value, ', ')
    else {
      const others = withoutOwnCookies(value)
      if (others !== undefined) join(map, name, others, '; ')
    }
  }
  return map
}

/** The fields that `Connection` names, in lower case; undefined: there is none, or it names nothing but `keep-alive` or `close`. */
export const namedByConnection = (raw: readonly string[]): ReadonlySet<string> | undefined => {
  let named: Set<string> | undefined
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (raw[at]?.length === 10 && raw[at]?.toLowerCase() === 'connection')
      named = addConnectionNames(named, raw[at + 1] ?? '')
  return named
}

/** `keep-alive` and `close` name no header that could pass; most `Connection` headers contain nothing else. */
export const addConnectionNames = (
  named: Set<string> | undefined,
  value: string,
): Set<string> | undefined => {
  const text = value.toLowerCase()
  if (text === 'keep-alive' || text === 'close') return named
  const names = named ?? new Set<string>()
  for (const each of text.split(',')) names.add(each.trim())
  return names
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
  for (const [name, latin1] of pairs) {
    const value = readHeaderText(latin1)
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
