// Content-Type values of clients and media ranges of documents go through their readers: a type is what browsers read of the
// same value, none that they send without a preflight gets past the check for other sites, and a range takes its own type.

import { MIMEType } from 'node:util'
import { isHeaderValue } from '../../../language/compile/headers.ts'
import { isForged } from '../../../language/forgeable-callers.ts'
import {
  isSentWithoutPreflight,
  isWildcard,
  readMediaRange,
  sentType,
  takesType,
} from '../../../language/routes/media-range.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'

/** What browsers read (WHATWG MIME Sniffing §4.4); undefined: they take it for no type, and ask before they send it. */
const browserType = (value: string): string | undefined => {
  try {
    return new MIMEType(value).essence
  } catch {
    return undefined
  }
}

const checkSent = (value: string): void => {
  const known = browserType(value)
  const isSimple = known !== undefined && isSentWithoutPreflight(known)
  if (isSimple && !isForged({ contentType: value, fetchSite: 'cross-site' }))
    throw new Error('a page of another site may send it')
  const type = sentType(value)
  if (type !== undefined && known !== undefined && type !== known)
    throw new Error(`read as ${type}, by browsers as ${known}`)
}

const checkRange = (value: string): string => {
  const range = readMediaRange(value)
  if (range === undefined) return 'no range'
  if (readMediaRange(range) !== range && !range.includes('; '))
    throw new Error(`${range} is read as another range`)
  const [type = ''] = range.split(';')
  if (isWildcard(range)) return 'wildcard'
  if (!takesType(range, type, value) && !/charset/i.test(value))
    throw new Error(`${range} does not take its own type`)
  return range === type ? 'type' : 'type with parameters'
}

const check = (input: Buffer): string => {
  // As Node gives values of headers: blanks around them are gone, and no control character but a tab is in them.
  const value = input.toString('latin1').trim()
  if (!isHeaderValue(value)) return 'no header value'
  checkSent(value)
  return `${sentType(value) === undefined ? 'no type' : 'sent'}, ${checkRange(value)}`
}

export const mediaTypes: FuzzTarget = {
  name: 'media-types',
  seeds: [
    'application/json; charset=utf-8',
    'multipart/form-data; boundary="a b"',
    'text/plain;a="b, application/json',
    'Text/CSV ;Header=present',
    'application/*+json',
    'image/*',
    '*/*',
    'application/x-www-form-urlencoded, text/plain',
  ].map((text) => Buffer.from(text)),
  mutate: (input, random, pool) =>
    mutateBytes(input, {
      random,
      pool,
      tokens: [
        ';',
        '/',
        '*',
        '"',
        '\\',
        ' ',
        '\t',
        ',',
        '=',
        'q=',
        'charset=',
        '+json',
        'text/plain',
        'multipart/form-data',
      ],
    }),
  open: () => ({ check }),
}
