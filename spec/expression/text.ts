// A template in, a closure out that writes its value as text: by the template rule, or for a URL with
// what requests bring percent-encoded.

import { jsonWriter } from './json.ts'
import { toText } from './render.ts'
import { type EvaluationContext, evaluator, type Insert, joiner } from './run.ts'
import type { Template } from './template.ts'

export { toText } from './render.ts'

type Write = (context: EvaluationContext) => string

/**
 * Strings verbatim, numbers in decimal, maps and lists as compact JSON (behaviour §1).
 * @throws ExpressionError
 */
const textWriter = (template: Template): Write => {
  if (template.kind === 'map' || template.kind === 'list') return jsonWriter(template)
  const run = evaluator(template)
  return (context) => toText(run(context))
}

/**
 * Text for a path or query string (behaviour §4): in a longer text every tag goes through `encode`, but
 * for `request.path` and `request.query_string`; a tag that is the whole text goes verbatim.
 * @throws ExpressionError
 * @example urlWriter(template, encodeURIComponent)(context) // '/orders/a%2Fb' for '/orders/{{…}}'
 */
export const urlWriter = (template: Template, encode: (text: string) => string): Write => {
  if (template.kind !== 'text' || isWhole(template)) return textWriter(template)
  const insert: Insert = (value, part) => (isVerbatim(part) ? toText(value) : encode(toText(value)))
  return joiner(template, insert)
}

/**
 * One tag is the whole text: `{{request.body.x}}`, in double quotes or not. A variable that is a longer text is none.
 */
export const isWhole = (template: Template): boolean => {
  if (template.kind !== 'text') return true
  const [first, second] = template.parts
  return second === undefined && first !== undefined && typeof first !== 'string' && isWhole(first)
}

/** Variables are: what is known of them, and a text that waits, which has encoded its own tags. */
const isVerbatim = (part: Template): boolean =>
  part.kind === 'constant' ||
  part.kind === 'text' ||
  (part.kind === 'read' &&
    part.root === 'request' &&
    part.keys.length === 1 &&
    (part.keys[0] === 'path' || part.keys[0] === 'query_string'))
