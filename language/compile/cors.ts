// Compiles `cors`: which pages of other origins may call an operation and read its responses.

import { oncePer } from '../../base/once.ts'
import type { CompiledCors } from './compiled.ts'
import { METHODS } from '../document.ts'
import { INVALID } from '../expression/fold.ts'
import { kindOf } from '../expression/errors.ts'
import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import { ownValue } from '../expression/lookup.ts'
import { childPointer } from '../../base/json-pointer.ts'
import { type OriginPattern, parseOriginPattern, writeOrigin } from '../routes/origin.ts'
import {
  type DocumentSchema,
  instead,
  key,
  LIST,
  listOf,
  ref,
  TEXT,
  HOLDS_EXPRESSION,
} from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Placed } from './folded.ts'
import { isHeaderName } from './headers.ts'
import { type InheritedPart, OF_ALL } from './operation-part.ts'

const MOST_ITEMS = 64
const LONGEST_NAME = 256
/** No browser keeps the response to a preflight for longer. */
const MOST_SECONDS = 86_400
const METHOD_NAMES: readonly string[] = METHODS.map((method) => method.toUpperCase())

const texts = (minItems = 0): DocumentSchema => ({
  ...LIST,
  ...listOf(TEXT, { minItems, maxItems: MOST_ITEMS }),
})

const CORS_SCHEMAS = {
  cors: {
    type: ['object', 'boolean', 'string'],
    ...HOLDS_EXPRESSION,
    description: 'Which pages of other origins may call, or false: none.',
    properties: {
      origins: key(
        "Origins of the pages: https://app.example.com, https://*.example.com for all that have labels in front of it, or '*' alone for every origin.",
        texts(1),
      ),
      allowed_methods: key(
        'Methods that the pages may use; those of the path when nothing is set.',
        texts(1),
      ),
      allowed_headers: key(
        "Request headers that the pages may set; '*' alone: all. Those that need no permission when nothing is set.",
        texts(),
      ),
      exposed_headers: key(
        'Response headers that the pages may read beside those that need no permission.',
        texts(),
      ),
      credentials: key('Whether browsers send cookies and stored passwords along.', {
        type: ['boolean', 'string'],
        ...HOLDS_EXPRESSION,
        default: false,
      }),
      max_age_seconds: key('How long browsers may keep the response to a preflight.', {
        type: ['integer', 'string'],
        ...HOLDS_EXPRESSION,
        minimum: 0,
        maximum: MOST_SECONDS,
      }),
    },
    required: ['origins'],
  },
} satisfies Readonly<Record<string, DocumentSchema>>

export const CORS_PART: InheritedPart<'cors'> = {
  of: OF_ALL,
  definitions: CORS_SCHEMAS,
  // A page reads them before it may have a response.
  ownsHeader: (name) => name.startsWith('access-control-'),
  keys: {
    cors: {
      on: ['operation', 'path'],
      schema: key(
        'Which pages of other origins may call (CORS): answers preflights, and adds its headers to every response; false: none.',
        ref('cors'),
        {
          wished: instead(
            "pages of other origins are allowed by 'cors'",
            'crossorigin',
            'corspolicy',
          ),
        },
      ),
    },
  },
  compile: (find, { diagnostics }) => compileCors(find('cors'), diagnostics),
  map: 'plain',
  describe: (cors) => (cors === undefined ? {} : { cors: describeCors(cors) }),
}

/** undefined: there is none, or a problem was reported. */
const compileCors = (
  placed: Placed | undefined,
  diagnostics: Diagnostics,
): CompiledCors | undefined => {
  if (placed === undefined || placed.template === INVALID) return undefined
  const { template, pointer } = placed
  if (template.kind !== 'constant') {
    diagnostics.problem('invalid_value', pointer, WAITS)
    return undefined
  }
  const { value } = template
  if (value === false) return undefined
  if (!isMap(value)) {
    diagnostics.problem(
      'invalid_datatype',
      pointer,
      `expected a map or false, got ${kindOf(value)}`,
    )
    return undefined
  }
  const { cors, problems } = readCors(value)
  for (const { keys, code, message } of problems)
    diagnostics.problem(code, keys.reduce<string>(childPointer, pointer), message)
  return problems.length === 0 ? cors : undefined
}

const WAITS =
  'this must be known when the document is loaded: no expression that reads the request may stand here'

interface CorsProblem {
  readonly keys: readonly (string | number)[]
  readonly code: 'invalid_value' | 'invalid_datatype' | 'missing_required_value'
  readonly message: string
}

/** One object for all operations that inherit it. */
const readCors = oncePer(
  (map: ValueMap): { cors: CompiledCors; problems: readonly CorsProblem[] } => {
    const problems: CorsProblem[] = []
    const report = (
      code: CorsProblem['code'],
      message: string,
      ...keys: CorsProblem['keys']
    ): void => {
      problems.push({ keys, code, message })
    }
    const list = <T>(
      name: string,
      read: (text: string) => T | Refused,
    ): readonly T[] | undefined => {
      const value = ownValue(map, name)
      if (value === undefined) return undefined
      if (!isList(value) || value.length > MOST_ITEMS) {
        report('invalid_datatype', `expected a list of at most ${MOST_ITEMS} texts`, name)
        return undefined
      }
      return value.flatMap((item, index) => {
        if (typeof item !== 'string') {
          report('invalid_datatype', `expected a text, got ${kindOf(item)}`, name, index)
          return []
        }
        const found = read(item)
        if (!(found instanceof Refused)) return [found]
        report('invalid_value', found.message, name, index)
        return []
      })
    }
    const isAny = (name: string): boolean => {
      const value = ownValue(map, name)
      return isList(value ?? null) && (value as readonly Value[]).includes('*')
    }
    const orAny = <T>(name: string, read: (text: string) => T | Refused): readonly T[] | 'any' => {
      if (!isAny(name)) return list(name, read) ?? []
      const value = ownValue(map, name)
      if (isList(value ?? null) && (value as readonly Value[]).length > 1)
        report('invalid_value', "'*' stands alone", name)
      return 'any'
    }
    const credentials = ownValue(map, 'credentials') ?? false
    if (typeof credentials !== 'boolean')
      report(
        'invalid_datatype',
        `expected true or false, got ${kindOf(credentials)}`,
        'credentials',
      )
    if (credentials === true)
      for (const name of ['origins', 'exposed_headers'])
        if (isAny(name))
          report('invalid_value', "'*' beside credentials: browsers refuse it, so name them", name)
    const origins = orAny('origins', readOrigin)
    // Those that are wrong have been reported.
    if (origins.length + problems.length === 0)
      report('missing_required_value', 'cors needs origins', 'origins')
    const methods = list('allowed_methods', readMethod)
    const maxAgeSeconds = ownValue(map, 'max_age_seconds')
    if (maxAgeSeconds !== undefined && !isSeconds(maxAgeSeconds))
      report(
        'invalid_value',
        `expected a whole number, from 0 to ${MOST_SECONDS}`,
        'max_age_seconds',
      )
    const cors: CompiledCors = {
      origins,
      ...(methods !== undefined && { methods }),
      headers: orAny('allowed_headers', readName),
      exposed: list('exposed_headers', readName) ?? [],
      credentials: credentials === true,
      ...(isSeconds(maxAgeSeconds) && { maxAgeSeconds }),
    }
    return { cors, problems }
  },
)

class Refused {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const readOrigin = (text: string): OriginPattern | Refused => {
  const pattern = parseOriginPattern(text)
  return typeof pattern === 'string' ? new Refused(pattern) : pattern
}

const readMethod = (text: string): string | Refused => {
  const method = text.toUpperCase()
  return METHOD_NAMES.includes(method)
    ? method
    : new Refused(`expected one of ${METHOD_NAMES.join(', ')}`)
}

const readName = (text: string): string | Refused =>
  text === '*' || (isHeaderName(text) && text.length <= LONGEST_NAME)
    ? text.toLowerCase()
    : new Refused('this is no name of a header')

const isSeconds = (value: Value | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_SECONDS

const describeCors = (cors: CompiledCors): ValueMap => {
  const { origins, methods, headers, exposed, credentials, maxAgeSeconds } = cors
  return {
    origins: origins === 'any' ? ['*'] : origins.map(writeOrigin),
    ...(methods && { allowed_methods: methods }),
    allowed_headers: headers === 'any' ? ['*'] : headers,
    exposed_headers: exposed,
    credentials,
    ...(maxAgeSeconds !== undefined && { max_age_seconds: maxAgeSeconds }),
  }
}
