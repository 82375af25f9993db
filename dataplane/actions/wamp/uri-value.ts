// Evaluates the URI of a WAMP action for each request, and determines which of its texts the document did not choose.
// Whether they are valid is for `checkUri` to decide.

import { isOfDocument } from '../../../language/expression/provenance.ts'
import { type EvaluationContext, evaluator, joiner } from '../../../language/expression/run.ts'
import type { Template, TextTemplate } from '../../../language/expression/template.ts'
import { isWhole, toText } from '../../../language/expression/text.ts'
import type { Value } from '../../../language/expression/value.ts'

export interface EvaluatedUri {
  readonly value: Value
  /**
   * The texts that requests and token claims insert between texts of the document. Empty if one template is the whole
   * URI.
   */
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
  const write = joiner(template, (value, part, context) => {
    const text = toText(value, context)
    if (foreign.has(part)) inserted.push(text)
    return text
  })
  return (context) => {
    inserted = []
    const value = write(context)
    return { value, inserted }
  }
}

/** The parts that the document did not choose, also of nested texts. */
const foreignParts = ({ parts }: TextTemplate): ReadonlySet<Template> => {
  const foreign = new Set<Template>()
  for (const part of parts) {
    if (typeof part === 'string') continue
    if (part.kind === 'text') for (const inner of foreignParts(part)) foreign.add(inner)
    else if (!isOfDocument(part)) foreign.add(part)
  }
  return foreign
}
