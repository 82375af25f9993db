// Lists everything that operations inherit, in one table: which keys of documents each part is compiled from, how, and
// how it is described. Schema, inheritance and `explain` follow from it.

import type { CompiledOperation, OperationParts } from './compiled.ts'
import { constant, type Template } from '../expression/template.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import { instead, key, MAP, ref, restrictingKey } from '../schema/document-notation.ts'
import { UNSENT_IN_RESPONSES } from '../unsent-headers.ts'
import { readShape } from './folded.ts'
import { CORS_PART } from './cors.ts'
import { compileHeaders } from './headers.ts'
import { type Find, finderOf, type InheritedKeys, type Levels } from './inheritance.ts'
import { BODY_PART, CALL_LIMITS_PART } from './limits.ts'
import { ACCEPTS_PART, PROVIDES_PART } from './media-types.ts'
import type { OperationPart, PartDeps, PartName, PlainParts } from './operation-part.ts'
import { REFUSAL_KEYS } from './refusal.ts'
import type { Scope } from './scope.ts'
import { describeSecurity } from './security.ts'

/** Compiled by the path, and not a part of its operations. */
const SCHEMES_KEYS: InheritedKeys = {
  schemes: {
    on: ['path'],
    schema: restrictingKey('Schemes that are served; both when nothing is set.', ref('schemes')),
  },
  redirect_http: {
    on: ['path'],
    schema: restrictingKey(
      'Whether a GET or HEAD over http is redirected (308) to the same URL over https. Then nothing is served over http.',
      { type: 'boolean', default: false },
    ),
  },
}

const SECURITY_PART: OperationPart<'security'> = {
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
  compile: (_find, { security }) => security,
  map: 'plain',
  describe: (security) => ({ security: describeSecurity(security) }),
}

const HEADER_EXAMPLES = { examples: ['{{request.headers}}'] }

const HEADERS_PART: OperationPart<'headers'> = {
  keys: {
    headers: { on: ['path'], schema: key('Response headers by name.', MAP, HEADER_EXAMPLES) },
  },
  compile: (find, deps) => compilePathHeaders(find, deps),
  map: (headers, change) => change(headers),
  describe: (headers) => ({ response_headers: headers }),
}

const PARTS: { readonly [P in PartName]: OperationPart<P> } = {
  security: SECURITY_PART,
  accepts: ACCEPTS_PART,
  provides: PROVIDES_PART,
  headers: HEADERS_PART,
  body: BODY_PART,
  limits: CALL_LIMITS_PART,
  cors: CORS_PART,
}

const NAMES = Object.keys(PARTS) as readonly PartName[]

/** By name, in the order of the reference. */
export const INHERITED_KEYS: InheritedKeys = Object.assign(
  {},
  SCHEMES_KEYS,
  REFUSAL_KEYS,
  ...NAMES.map((name) => PARTS[name].keys),
) as InheritedKeys

const NO_HEADERS = constant({})

/** The nearest of the path's and the defaults' headers, whole. */
export const compilePathHeaders = (
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

export const compileParts = (levels: Levels, scope: Scope, deps: PartDeps): OperationParts => {
  const compile = <P extends PartName>(name: P): readonly [P, OperationParts[P]] => {
    const { keys, compile: compilePart } = PARTS[name]
    return [name, compilePart(finderOf(keys, levels, scope), deps)]
  }
  return toParts(NAMES.map(compile))
}

export const mapParts = <A, B>(
  operation: OperationParts<A>,
  change: (template: A) => B,
): OperationParts<B> => {
  const map = (name: PartName): readonly [PartName, unknown] => {
    const part = operation[name]
    // What a row maps is its own part.
    const mapPart = PARTS[name].map as 'plain' | ((part: unknown, change: unknown) => unknown)
    return [name, part === undefined || mapPart === 'plain' ? part : mapPart(part, change)]
  }
  return toParts(NAMES.map(map))
}

/** The parts that have no templates, each as `change` gives it. */
export const plainParts = (
  operation: CompiledOperation,
  change: <V extends object>(part: V) => V,
): PlainParts => {
  const plain = NAMES.filter((name) => PARTS[name].map === 'plain')
  const parts = plain.flatMap((name) => {
    const part = operation[name] as object | undefined
    return part === undefined ? [] : [[name, change(part)] as const]
  })
  return Object.fromEntries(parts) as unknown as PlainParts
}

export const describeParts = (operation: OperationParts<Value>): ValueMap => {
  const described: Record<string, Value> = {}
  const describe = <P extends PartName>(
    name: P,
    part: OperationParts<Value>[P] | undefined,
  ): void => {
    if (part === undefined) return
    for (const [member, value] of Object.entries(PARTS[name].describe(part))) {
      const before = described[member]
      described[member] = isMap(before) && isMap(value) ? { ...before, ...value } : value
    }
  }
  for (const name of NAMES) describe(name, operation[name])
  return described
}

/** Without those that the document does not have. */
const toParts = <T>(parts: readonly (readonly [PartName, unknown])[]): OperationParts<T> =>
  Object.fromEntries(parts.filter(([, part]) => part !== undefined)) as unknown as OperationParts<T>
