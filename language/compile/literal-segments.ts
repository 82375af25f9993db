// Finds segments of paths that look like a binding or a tail of another gateway, and are plain text here: {id}, <id>
// and * in the pattern of a path; {id} and :id in the path that a request is forwarded to.

/**
 * The end of a sentence about the first such segment of a path pattern.
 * @example literalSegment('/orders/{id}') // "'{id}' is plain text here: write ':id' for a segment of any value"
 */
export const literalSegment = (pattern: string): string | undefined => {
  for (const segment of segmentsOf(pattern)) {
    const remedy = remedyFor(segment)
    if (remedy !== undefined) return `'${segment}' is plain text here: write ${remedy}`
  }
  return undefined
}

/**
 * The same of a path to an upstream, where only names that the path binds are looked for.
 * @example literalBinding('/v2/orders/:id', ['id'])?.message // "':id' is sent as it stands: write {{request.bindings.id}}"
 */
export const literalBinding = (
  path: string,
  bindings: readonly string[],
): { readonly segment: string; readonly message: string } | undefined => {
  for (const segment of segmentsOf(path)) {
    const name = segment.startsWith(':') ? segment.slice(1) : nameInBraces(segment)
    if (name !== undefined && bindings.includes(name))
      return {
        segment,
        message: `'${segment}' is sent as it stands: write {{request.bindings.${name}}}`,
      }
  }
  return undefined
}

/** Longer ones are not such. */
const MAX_SEGMENT = 80

const segmentsOf = (path: string): readonly string[] =>
  path.split('/').filter((segment) => segment !== '' && segment.length <= MAX_SEGMENT)

const remedyFor = (segment: string): string | undefined => {
  const text = segment.replaceAll(/[[\]]/g, '')
  const name = nameInBraces(text)
  if (name !== undefined)
    return /^[*.]|[*.]$/.test(name) ? ANY_REST : `':${plainName(name)}' for a segment of any value`
  if (text.startsWith('*')) return ANY_REST
  return /\{\w+\}/.test(text) ? "a binding as a whole segment, such as ':id'" : undefined
}

const ANY_REST = "'[...]' at the end for any further segments, or ':name' for one"

/** `{id}`, `{id:int}`, `<id>`, `<int:id>` */
const nameInBraces = (segment: string): string | undefined =>
  /^\{([^{}]+)\}$/.exec(segment)?.[1]?.split(':')[0] ??
  /^<([^<>]+)>$/.exec(segment)?.[1]?.split(':').at(-1)

const plainName = (name: string): string => (/^[\w-]+$/.test(name) ? name : 'name')
