// Decides which paths and query strings of a forward no request can be sent with, and says why: the gateway rejects such
// a request target with svc.error.invalid_data (behaviour §4).

import type { Template } from '../expression/template.ts'

/** The end of a sentence, and the text that is wrong. */
export interface UnfitTarget {
  readonly reason: string
  readonly text: string
}

/**
 * Undefined: it depends on the request, or there is nothing wrong.
 * @example unfitPath(constant('items'))?.reason // "must begin with a slash: write '/items'"
 */
export const unfitPath = (path: Template): UnfitTarget | undefined => {
  const literals = literalsOf(path)
  const [first] = literals
  const begins = path.kind === 'text' ? typeof path.parts[0] === 'string' : true
  if (begins && first !== undefined && !/^[/?]/.test(first))
    return { reason: 'must begin with a slash', text: first }
  const unfit = unfitText(literals, /[\\\p{Cc}]/u, 'a backslash or control character')
  if (unfit !== undefined || path.kind !== 'constant' || first === undefined) return unfit
  const segment = /\/(\.{1,2})(?=[/?]|$)/.exec(first.split('?')[0] ?? '')
  return segment === null
    ? undefined
    : { reason: `must not have a segment '${String(segment[1])}'`, text: segment[0] }
}

/** The same of a query string. */
export const unfitQuery = (query: Template): UnfitTarget | undefined =>
  unfitText(literalsOf(query), /\p{Cc}/u, 'a control character')

const unfitText = (
  literals: readonly string[],
  unfit: RegExp,
  words: string,
): UnfitTarget | undefined => {
  for (const text of literals) {
    const found = unfit.exec(text)?.[0]
    if (found === undefined) continue
    const reason = `must not hold ${found === '\n' ? LINE_BREAK : words}`
    return { reason, text: found }
  }
  return undefined
}

/** YAML's blocks end with one unless told otherwise. */
const LINE_BREAK =
  'a line break: put it on one line, or write |- in place of |, and >- in place of >'

const literalsOf = (template: Template): readonly string[] => {
  if (template.kind === 'text') return template.parts.filter((part) => typeof part === 'string')
  if (template.kind !== 'constant' || typeof template.value !== 'string') return []
  return template.value === '' ? [] : [template.value]
}
