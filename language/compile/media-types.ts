// Compiles the content types that an operation accepts and provides (§2.3): any type or range of types. Which of them suit
// what the operation does with the body is decided in `unsuitable-types.ts`.

import { childPointer } from '../../base/json-pointer.ts'
import type { ContentType } from '../routes/negotiate.ts'
import {
  HOLDS_EXPRESSION,
  instead,
  key,
  LIST,
  listOf,
  ref,
  restrictingKey,
  TEXT,
  type DocumentSchema,
} from '../schema/document-notation.ts'
import { MEDIA_RANGE, readMediaRange, withoutUsualCharset } from '../routes/media-range.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type Placed, readTexts } from './folded.ts'
import { type InheritedPart, OF_OPERATIONS } from './operation-part.ts'

/** What values are read from and written in where a document names no types. */
export const DEFAULT_TYPES: readonly ContentType[] = ['application/json', 'application/msgpack']

/** Those that editors propose. */
const USUAL_PROVIDED: readonly ContentType[] = [
  'application/json',
  'application/msgpack',
  'text/html',
  'text/plain',
]
const USUAL_ACCEPTED: readonly ContentType[] = [
  'application/json',
  'application/msgpack',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/*+json',
  'text/*',
  '*/*',
]
const ANOTHER = 'another media type such as image/png'

const schemaOf = (usual: readonly ContentType[], description: string): DocumentSchema => ({
  ...LIST,
  ...listOf(
    {
      ...TEXT,
      anyOf: [{ enum: usual }, { pattern: MEDIA_RANGE, description: ANOTHER }, HOLDS_EXPRESSION],
    },
    { minItems: 1, maxItems: 64 },
  ),
  description,
})

const MEDIA_TYPES =
  "media types are said by 'accepts' (of requests) and 'provides' (of responses) of a path"

const EXPECTED =
  'a media type such as application/json or image/png, or a range: image/*, application/*+json, */*'

const readRanges = (
  { template, pointer }: Placed,
  diagnostics: Diagnostics,
): readonly ContentType[] | undefined => {
  const texts = readTexts<string>(template, pointer, undefined, diagnostics)
  const ranges = texts?.map(readMediaRange)
  ranges?.forEach((range, index) => {
    if (range === undefined)
      diagnostics.problem('invalid_value', childPointer(pointer, index), `expected ${EXPECTED}`)
  })
  return ranges?.filter((range) => range !== undefined)
}

export const ACCEPTS_PART: InheritedPart<'accepts'> = {
  of: OF_OPERATIONS,
  definitions: {
    accepts: schemaOf(USUAL_ACCEPTED, 'Media types of request bodies, or ranges of them.'),
  },
  keys: {
    accepts: {
      on: ['path'],
      schema: restrictingKey(
        'Media types accepted for the bodies of POST, PUT and PATCH, or ranges of them. When nothing is set: any where a forward passes the body unread, else JSON and msgpack.',
        ref('accepts'),
        { wished: instead(MEDIA_TYPES, 'contenttype', 'consumes') },
      ),
    },
  },
  compile: (find, { diagnostics }) => {
    const placed = find('accepts')
    return placed && readRanges(placed, diagnostics)?.map(withoutUsualCharset)
  },
  map: 'plain',
  describe: (accepts = []) => ({ accepts }),
}

export const PROVIDES_PART: InheritedPart<'provides'> = {
  of: OF_OPERATIONS,
  definitions: { provides: schemaOf(USUAL_PROVIDED, 'Media types of responses.') },
  keys: {
    provides: {
      on: ['path'],
      schema: key(
        'Media types of responses; JSON and msgpack when nothing is set. Others where the document sets the content-type, or the response of an upstream passes through.',
        ref('provides'),
        { wished: instead(MEDIA_TYPES, 'produces') },
      ),
    },
  },
  compile: (find, { diagnostics }) => {
    const placed = find('provides')
    return (placed && readRanges(placed, diagnostics)) ?? DEFAULT_TYPES
  },
  map: 'plain',
  describe: (provides) => ({ provides }),
}
