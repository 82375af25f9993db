// Lists everything that is inherited, in one table: which keys of documents each part is compiled from, how, whether
// operations, paths or versions have it, and how it is described. Schema, inheritance, packing and `explain` follow from it.

import type { CompiledOperation, OperationParts, OwningParts } from './compiled.ts'
import { constant, type Template } from '../expression/template.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import {
  type DocumentSchema,
  instead,
  key,
  MAP,
  ref,
  restrictingKey,
} from '../schema/document-notation.ts'
import { UNSENT_IN_RESPONSES } from '../unsent-headers.ts'
import { readShape } from './folded.ts'
import { CORS_PART } from './cors.ts'
import { compileHeaders } from './headers.ts'
import { type Find, finderOf, type InheritedKeys, type Levels } from './inheritance.ts'
import { BODY_PART, CALL_LIMITS_PART } from './limits.ts'
import { ACCEPTS_PART, PROVIDES_PART } from './media-types.ts'
import {
  type Holder,
  type InheritedPart,
  type InheritedParts,
  OF_OPERATIONS,
  type PartDeps,
  type PartName,
  type PartsOf,
  type PlainParts,
} from './operation-part.ts'
import { RATE_LIMITS_PART } from './rate-limits.ts'
import { REFUSAL_PART } from './refusal.ts'
import { SCHEMES_PART } from './schemes.ts'
import { SCHEMA_PART } from './schemas.ts'
import type { Scope } from './scope.ts'
import { ANONYMOUS, describeSecurity } from './security.ts'

const SECURITY_PART: InheritedPart<'security'> = {
  of: OF_OPERATIONS,
  keys: {
    security: {
      on: ['path'],
      schema: restrictingKey(
        'Who may call. {} is anonymous; anything else must be satisfied.',
        ref('security'),
        {
          wished: instead(
            "who may call is said by 'security' of a path, a version or the API",
            'auth',
            'authentication',
            'authorization',
          ),
        },
      ),
    },
  },
  compile: (_find, { security }) => security ?? ANONYMOUS,
  map: 'plain',
  describe: (security) => ({ security: describeSecurity(security) }),
}

const HEADER_EXAMPLES = { examples: ['{{request.headers}}'] }

const HEADERS_PART: InheritedPart<'headers'> = {
  of: { operation: true, path: true, unmatched: false },
  keys: {
    headers: { on: ['path'], schema: key('Response headers by name.', MAP, HEADER_EXAMPLES) },
  },
  compile: (find, deps) => compilePathHeaders(find, deps),
  map: (headers, change) => change(headers),
  describe: (headers) => ({ response_headers: headers }),
}

const PARTS: { readonly [P in PartName]-?: InheritedPart<P> } = {
  schemes: SCHEMES_PART,
  refusal: REFUSAL_PART,
  security: SECURITY_PART,
  accepts: ACCEPTS_PART,
  provides: PROVIDES_PART,
  headers: HEADERS_PART,
  body: BODY_PART,
  limits: CALL_LIMITS_PART,
  cors: CORS_PART,
  schema: SCHEMA_PART,
  rateLimits: RATE_LIMITS_PART,
}

const NAMES = Object.keys(PARTS) as readonly PartName[]

/** The keys by name, in the order of the reference. */
export const INHERITED_KEYS: InheritedKeys = Object.assign(
  {},
  ...NAMES.map((name) => PARTS[name].keys),
) as InheritedKeys

/** Definitions that the schemas of these keys refer to. */
export const INHERITED_DEFINITIONS = Object.assign(
  {},
  ...NAMES.map((name) => PARTS[name].definitions),
) as Readonly<Record<string, DocumentSchema>>

/** The part by which the gateway writes this header itself, in place of others; undefined: there is none. */
export const ownerOf = (parts: OwningParts, header: string): PartName | undefined =>
  NAMES.find(
    (name) =>
      parts[name as keyof OwningParts] !== undefined && PARTS[name].ownsHeader?.(header) === true,
  )

const NO_HEADERS = constant({})

/** The nearest of the path's and the defaults' headers, whole. */
const compilePathHeaders = (
  find: Find,
  { diagnostics, validatedHeaders }: Pick<PartDeps, 'diagnostics' | 'validatedHeaders'>,
): Template => {
  const placed = find('headers')
  if (placed === undefined) return NO_HEADERS
  const validated = validatedHeaders.get(placed)
  if (validated !== undefined) return validated
  const template = readShape(placed.template, placed.pointer, 'map', diagnostics)
  const headers =
    template && compileHeaders(template, placed.pointer, UNSENT_IN_RESPONSES, diagnostics)
  validatedHeaders.set(placed, headers ?? NO_HEADERS)
  return headers ?? NO_HEADERS
}

/** The finder of the keys of one part, and of any other key that operations inherit. */
export const findInherited = (levels: Levels, scope: Scope): Find =>
  finderOf(INHERITED_KEYS, levels, scope)

const namesOf = (holder: Holder): readonly PartName[] =>
  NAMES.filter((name) => PARTS[name].of[holder])

const NAMES_OF = {
  operation: namesOf('operation'),
  path: namesOf('path'),
  unmatched: namesOf('unmatched'),
} as const satisfies Record<Holder, readonly PartName[]>

export const compileParts = <H extends Holder>(
  holder: H,
  levels: Levels,
  scope: Scope,
  deps: PartDeps,
): PartsOf[H] => {
  const compile = (name: PartName): readonly [PartName, unknown] => {
    const { keys, compile: compilePart } = PARTS[name]
    return [name, compilePart(finderOf(keys, levels, scope), deps)]
  }
  return toParts(NAMES_OF[holder].map(compile)) as PartsOf[H]
}

/** The parts alone of what may have more members, with each of their templates as `change` gives it. */
export const mapParts = <H extends Holder, A, B>(
  holder: H,
  from: PartsOf<A>[H],
  change: (template: A) => B,
): PartsOf<B>[H] => {
  const parts = from as Partial<InheritedParts<A>>
  const map = (name: PartName): readonly [PartName, unknown] => {
    const part = parts[name]
    // What a row maps is its own part.
    const mapPart = PARTS[name].map as 'plain' | ((part: unknown, change: unknown) => unknown)
    return [name, part === undefined || mapPart === 'plain' ? part : mapPart(part, change)]
  }
  return toParts(NAMES_OF[holder].map(map)) as PartsOf<B>[H]
}

/** The parts that have no templates, each as `change` gives it. */
export const plainParts = (
  operation: CompiledOperation,
  change: <V extends object>(part: V) => V,
): PlainParts => {
  const plain = NAMES_OF.operation.filter((name) => PARTS[name].map === 'plain')
  const parts = plain.flatMap((name) => {
    const part = operation[name as keyof OperationParts] as object | undefined
    return part === undefined ? [] : [[name, change(part)] as const]
  })
  return Object.fromEntries(parts) as unknown as PlainParts
}

export const describeParts = <H extends Holder>(holder: H, from: PartsOf<Value>[H]): ValueMap => {
  const parts = from as Partial<InheritedParts<Value>>
  const described: Record<string, Value> = {}
  for (const name of NAMES_OF[holder]) {
    const part = parts[name]
    if (part === undefined) continue
    // What a row describes is its own part.
    const describe = PARTS[name].describe as (part: unknown) => ValueMap
    for (const [member, value] of Object.entries(describe(part))) {
      const before = described[member]
      described[member] = isMap(before) && isMap(value) ? { ...before, ...value } : value
    }
  }
  return described
}

/** Without those that the document does not have. */
const toParts = (parts: readonly (readonly [PartName, unknown])[]): unknown =>
  Object.fromEntries(parts.filter(([, part]) => part !== undefined))
