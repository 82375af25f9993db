// Converts between values of headers as Node has them, Latin-1 text with a character for each byte, and the text that
// documents see. What a document does not read passes as the bytes that came.

import { isUtf8 } from 'node:buffer'

/**
 * The text of a header that came: UTF-8, or Latin-1 where it is not valid UTF-8.
 * @example readHeaderText('Zo\u00c3\u00ab') // 'Zoë'
 */
export const readHeaderText = (latin1: string): string => {
  if (!BEYOND_ASCII.test(latin1)) return latin1
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : latin1
}

/**
 * The value of a header that is written: always UTF-8, so that peers need not guess. URLs are percent-encoded.
 * @param name in lower case
 */
export const writeHeaderText = (name: string, text: string): string => {
  if (!BEYOND_ASCII.test(text)) return text
  return URLS.has(name)
    ? text.toWellFormed().replace(BEYOND_ASCII_RUNS, encodeURIComponent)
    : Buffer.from(text).toString('latin1')
}

const URLS: ReadonlySet<string> = new Set(['content-location', 'location'])

const BEYOND_ASCII = /[\u0080-\uffff]/
const BEYOND_ASCII_RUNS = /[\u0080-\uffff]+/g
