// Compiles the content types that an operation accepts and provides (§2.3).

import type { ContentType } from '../compiled.ts'
import {
  instead,
  key,
  LIST,
  listOf,
  oneOf,
  ref,
  restrictingKey,
} from '../schema/document-notation.ts'
import type { DocumentSchema } from '../schema/document-notation.ts'
import { readTexts } from './folded.ts'
import type { OperationPart } from './operation-part.ts'

const PROVIDES: readonly ContentType[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/msgpack',
  'application/msgpack; charset=utf-8',
]
const ACCEPTS: readonly ContentType[] = [...PROVIDES, 'application/x-www-form-urlencoded']
const DEFAULT_TYPES: readonly ContentType[] = ['application/json', 'application/msgpack']

const schemaOf = (types: readonly ContentType[], description: string): DocumentSchema => ({
  ...LIST,
  ...listOf(oneOf(types), { minItems: 1, maxItems: 64 }),
  description,
})

const MEDIA_TYPES =
  "media types are said by 'accepts' (of requests) and 'provides' (of responses) of a path"

/** Definitions that the schemas of both keys refer to. */
export const MEDIA_TYPE_SCHEMAS = {
  accepts: schemaOf(ACCEPTS, 'Content types of request bodies.'),
  provides: schemaOf(PROVIDES, 'Content types of responses.'),
}

const compilerOf =
  (
    name: 'accepts' | 'provides',
    types: readonly ContentType[],
  ): OperationPart<typeof name>['compile'] =>
  (find, { diagnostics }) => {
    const placed = find(name)
    return (
      (placed && readTexts(placed.template, placed.pointer, types, diagnostics)) ?? DEFAULT_TYPES
    )
  }

export const ACCEPTS_PART: OperationPart<'accepts'> = {
  keys: {
    accepts: {
      on: ['path'],
      schema: restrictingKey(
        'Content types accepted for the bodies of POST, PUT and PATCH; JSON and msgpack when nothing is set.',
        ref('accepts'),
        { wished: instead(MEDIA_TYPES, 'contenttype', 'consumes') },
      ),
    },
  },
  compile: compilerOf('accepts', ACCEPTS),
  map: (accepts) => accepts,
  describe: (accepts) => ({ accepts }),
}

export const PROVIDES_PART: OperationPart<'provides'> = {
  keys: {
    provides: {
      on: ['path'],
      schema: key(
        'Content types that responses are written in; JSON and msgpack when nothing is set.',
        ref('provides'),
        { wished: instead(MEDIA_TYPES, 'produces') },
      ),
    },
  },
  compile: compilerOf('provides', PROVIDES),
  map: (provides) => provides,
  describe: (provides) => ({ provides }),
}
