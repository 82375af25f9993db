// The URI of a WAMP action is evaluated here: its template in, for each request its value out, and which texts in it the
// document did not choose. Whether those may stand there is for `checkUri` to say.

import { isOfDocument } from '../../../language/expression/provenance.ts'
import { type EvaluationContext, evaluator, joiner } from '../../../language/expression/run.ts'
import type { Template, TextTemplate } from '../../../language/expression/template.ts'
import { isWhole, toText } from '../../../language/expression/text.ts'
import type { Value } from '../../../language/expression/value.ts'

export interface EvaluatedUri {
  readonly value: Value
  /** What requests and claims put between texts of the document. Empty where a tag is the whole URI. */
  readonly inserted: readonly string[]
}

const NOTHING: readonly string[] = []

/**
 * The closure throws ExpressionError.
 * @example
 * const evaluate = prepareUri(action.uri) // com.{{request.bindings.id}}
 * evaluate(context) // { value: 'com.7', inserted: ['7'] }
 */
export const prepareUri = (template: Template): ((context: EvaluationContext) => EvaluatedUri) => {
  if (template.kind !== 'text' || isWhole(template)) {
    const run = evaluator(template)
    return (context) => ({ value: run(context), inserted: NOTHING })
  }
  const foreign = foreignParts(template)
  let inserted: string[] = []
  const write = joiner(template, (value, part) => {
    const text = toText(value)
    if (foreign.has(part)) inserted.push(text)
    return text
  })
  return (context) => {
    inserted = []
    const value = write(context)
    return { value, inserted }
  }
}

/** Of a text within the text, its own parts. */
const foreignParts = ({ parts }: TextTemplate): ReadonlySet<Template> => {
  const foreign = new Set<Template>()
  for (const part of parts) {
    if (typeof part === 'string') continue
    if (part.kind === 'text') for (const inner of foreignParts(part)) foreign.add(inner)
    else if (!isOfDocument(part)) foreign.add(part)
  }
  return foreign
}
