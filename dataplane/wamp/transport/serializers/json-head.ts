// A JSON text that can't be parsed as a whole in, the leading elements of its list out: Python callees
// write NaN, and only the call they answer shall fail. Linear; never looks beyond the first bad element.

import type { Value } from '../../../../language/expression/value.ts'

/**
 * @example readJsonHead('[50,7,{},[NaN]]') // [50, 7, {}]
 */
export const readJsonHead = (text: string): Value[] => {
  const head: Value[] = []
  let start = BEGINNING.exec(text)?.[0].length ?? text.length
  while (start < text.length) {
    const end = elementEnd(text, start)
    // Of a number that was cut off nobody knows the rest: it would name another request. What is large is a payload,
    // which names none, and may be what is too much to be parsed.
    if (end === text.length || end - start > MAX_ELEMENT_CHARACTERS) break
    try {
      head.push(JSON.parse(text.slice(start, end)) as Value)
    } catch {
      break
    }
    if (text[end] !== ',') break
    start = end + 1
  }
  return head
}

const MAX_ELEMENT_CHARACTERS = 64 * 1024

const BEGINNING = /^[ \t\r\n]*\[/

/** Where the comma or bracket stands that ends the element beginning at `start`, else the text's end. */
const elementEnd = (text: string, start: number): number => {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"':
        at = closingQuote(text, at)
        break
      case '[':
      case '{':
        depth++
        break
      case ']':
      case '}':
        if (depth === 0) return at
        depth--
        break
      case ',':
        if (depth === 0) return at
        break
    }
  }
  return text.length
}

const closingQuote = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
