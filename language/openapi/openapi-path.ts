// Writes path patterns as OpenAPI writes paths: `/orders/{id}`. A tail, for which OpenAPI has no form, becomes a
// parameter.

import type { PathPattern } from '../routes/path-pattern.ts'
import type { PathStep } from '../routes/mixed-segment.ts'

export interface OpenApiPath {
  /** Its literal and `{name}` parts, as OpenAPI has them. */
  readonly path: string
  /** The same for paths that OpenAPI counts as one, whatever their parameters are called. */
  readonly shape: string
  /** Names of its parameters, in order. */
  readonly parameters: readonly string[]
  /** Stands for a pattern with a tail: `empty` without anything there, `filled` with the last parameter for it. */
  readonly tail?: 'empty' | 'filled'
}

/**
 * One path, or two for a pattern with a tail.
 * @example openApiPaths(…'/files/:id/[...rest]') // '/files/{id}' and '/files/{id}/{rest}'
 */
export const openApiPaths = (pattern: PathPattern): readonly OpenApiPath[] => {
  const names = parameterNames(pattern)
  const parts = partsOf(pattern.segments)
  const own = names.slice(0, pattern.bindings.length)
  if (!pattern.tail) return [written(parts, own)]
  return [
    { ...written(parts, own), tail: 'empty' },
    { ...written([...parts, '/', null], names), tail: 'filled' },
  ]
}

/**
 * The same path with the names of another one of its shape.
 * @example withNames(…'/a/{x}', ['y']).path // '/a/{y}'
 */
export const withNames = (path: OpenApiPath, names: readonly string[]): OpenApiPath => {
  let index = 0
  const renamed = path.shape.replaceAll('{}', () => `{${names[index++] ?? ''}}`)
  return { ...path, path: renamed, parameters: names }
}

/** What binds nothing has a name here, which no other parameter of the path has. */
const parameterNames = ({ bindings, tail, rest }: PathPattern): readonly string[] => {
  const taken = new Set([...bindings, rest].filter((name) => name !== null))
  const free = (wished: string): string => {
    let name = wished
    while (taken.has(name)) name += '_'
    taken.add(name)
    return name
  }
  const names = bindings.map((name, index) => name ?? free(`segment${index + 1}`))
  return tail ? [...names, rest ?? free('rest')] : names
}

/** Texts, and null for each parameter. */
type Part = string | null

const partsOf = (segments: readonly PathStep[]): readonly Part[] =>
  segments.flatMap((step): readonly Part[] => {
    if (step === null) return ['/', null]
    if (typeof step === 'string') return ['/', literal(step)]
    return step.flatMap((text, index) => [index === 0 ? '/' : null, literal(text)])
  })

const written = (parts: readonly Part[], parameters: readonly string[]): OpenApiPath => {
  const shape = parts.map((part) => part ?? '{}').join('')
  return withNames({ path: '', shape: shape === '' ? '/' : shape, parameters }, parameters)
}

/** RFC 3986 §3.3: these may stand in a segment as they are. Braces may not. */
const literal = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent)
