// Reads the leading elements of a JSON list that cannot be parsed as a whole: Python callees write NaN, and only the
// call that they answer shall fail. It is linear, and never reads beyond the first bad element.

import { parseJson } from '../../../../base/parse-json.ts'
import { endOfString, QUOTE } from '../../../../base/json-strings.ts'
import type { Value } from '../../../../language/expression/value.ts'

/**
 * @example readJsonHead(Buffer.from('[50,7,{},[NaN]]')) // [50, 7, {}]
 */
export const readJsonHead = (json: Buffer): Value[] => {
  const head: Value[] = []
  let start = startOfElements(json)
  while (start < json.length) {
    const end = endOfElement(json, start)
    // The rest of a number that was cut off is unknown: it would be the id of another request. A large element is a
    // payload, which contains no id, and may be too large to be parsed.
    if (end >= json.length || end - start > MAX_ELEMENT_BYTES) break
    try {
      head.push(parseJson(json.toString('utf8', start, end)) as Value)
    } catch {
      break
    }
    if (json[end] !== COMMA) break
    start = end + 1
  }
  return head
}

const MAX_ELEMENT_BYTES = 64 * 1024

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_MAP = 0x7b
const CLOSE_MAP = 0x7d

/** Behind the bracket that opens the list; behind the text where there is none. */
const startOfElements = (json: Buffer): number => {
  const first = json.findIndex((byte) => !BLANKS.has(byte))
  return json[first] === OPEN_LIST ? first + 1 : json.length
}

/**
 * Where the comma or bracket stands that ends the element beginning at `start`; behind the text where there is none.
 */
const endOfElement = (json: Buffer, start: number): number => {
  let depth = 0
  let at = start
  for (; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at + 1) - 1
    else if (byte === OPEN_LIST || byte === OPEN_MAP) depth += 1
    else if (byte === CLOSE_LIST || byte === CLOSE_MAP) {
      if (depth === 0) return at
      depth -= 1
    } else if (byte === COMMA && depth === 0) return at
  }
  return at
}
