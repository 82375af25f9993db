// Turns the errors of a JSON Schema validator into located problems: one for each mistake, without the echoes that
// branching keywords (`if`, `anyOf`) make. Knows no particular validator and never validates by itself.

import { childPointer } from '../../base/json-pointer.ts'
import type { Problem, ProblemCode } from '../problem.ts'
import apiSchema from '../schema/api-specification.schema.json' with { type: 'json' }
import { describeFault, type Place, type SchemaFault } from './messages.ts'

const MAX_PROBLEMS = 1000

/** Known by identity: ajv returns the very definition that a value broke. */
const ACTION_TYPE: object = apiSchema.$defs.actionType

/** Only says that something within has failed, or is an alternative that failed before another held. */
const isEcho = ({ keyword, schemaPath }: SchemaFault): boolean =>
  keyword === 'if' || schemaPath.includes('/anyOf/')

/**
 * One problem for each faulty place, in the order of the errors, at most 1000. Of several errors about one place the
 * one about its type stands.
 */
export const problemsOf = (faults: readonly SchemaFault[], place: Place): readonly Problem[] => {
  const problems = new Map<string, Problem>()
  for (const fault of faults) {
    if (isEcho(fault)) continue
    const path = place.pointer + pointerOf(fault)
    const known = problems.get(path)
    const code = codeOf(fault)
    if (known === undefined ? problems.size >= MAX_PROBLEMS : code !== 'invalid_datatype') continue
    problems.set(path, { code, path, message: describeFault(fault, place.values) })
  }
  return [...problems.values()]
}

const pointerOf = ({ keyword, instancePath, params }: SchemaFault): string => {
  if (keyword === 'required') return childPointer(instancePath, String(params['missingProperty']))
  if (keyword === 'additionalProperties')
    return childPointer(instancePath, String(params['additionalProperty']))
  return instancePath
}

const codeOf = (fault: SchemaFault): ProblemCode => {
  switch (fault.keyword) {
    case 'required':
    case 'false schema':
      return 'missing_required_value'
    case 'type':
      return 'invalid_datatype'
    case 'pattern':
      // A text beside other types must be an expression: other texts are of the wrong type.
      return Array.isArray(fault.parentSchema?.['type']) ? 'invalid_datatype' : 'invalid_value'
    case 'enum':
      return fault.parentSchema === ACTION_TYPE ? 'unsupported_action_type' : 'invalid_value'
    default:
      return 'invalid_value'
  }
}
