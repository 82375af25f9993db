// Turns the errors of a JSON Schema validator into located problems: one for each mistake, without the echoes that
// branching keywords (`if`, `anyOf`) make. Knows no particular validator and never validates by itself.

import { childPointer } from '../../base/json-pointer.ts'
import type { Problem, ProblemCode } from '../problem.ts'
import { ACTION_TYPE_SCHEMA } from './action-schemas.ts'
import { boundProblems } from './bound-problems.ts'
import { describeError, type Place, type SchemaError } from './messages.ts'

/** Only says that something within has failed, or is an alternative that failed before another held. */
const isEcho = ({ keyword, schemaPath }: SchemaError): boolean =>
  keyword === 'if' || schemaPath.includes('/anyOf/')

/**
 * One problem for each faulty place, in the order of the errors, at most 1000, fairly between the members of the value. Of
 * several errors about one place the one about its type stands.
 */
export const problemsOf = (errors: readonly SchemaError[], place: Place): readonly Problem[] => {
  const located = new Map<string, LocatedError>()
  for (const error of errors) {
    if (isEcho(error) || isStandIn(error, place)) continue
    const pointer = pointerOf(error)
    const code = codeOf(error)
    if (!located.has(pointer) || code === 'invalid_datatype')
      located.set(pointer, { error, pointer, code })
  }
  const bounded = boundProblems([...located.values()], ({ error }) => error.instancePath)
  return bounded.map(({ error, pointer, code }) => ({
    code,
    path: place.pointer + pointer,
    message: describeError(error, place.values),
  }))
}

interface LocatedError {
  readonly error: SchemaError
  readonly pointer: string
  readonly code: ProblemCode
}

const isStandIn = ({ data }: SchemaError, { standIn }: Place): boolean =>
  standIn !== undefined && data === standIn

const pointerOf = ({ keyword, instancePath, params }: SchemaError): string => {
  if (keyword === 'required') return childPointer(instancePath, String(params['missingProperty']))
  if (keyword === 'additionalProperties')
    return childPointer(instancePath, String(params['additionalProperty']))
  return instancePath
}

const codeOf = (error: SchemaError): ProblemCode => {
  switch (error.keyword) {
    case 'required':
    case 'false schema':
      return 'missing_required_value'
    case 'type':
      return 'invalid_datatype'
    case 'pattern':
      // A text beside other types must be an expression: other texts are of the wrong type.
      return Array.isArray(error.parentSchema?.['type']) ? 'invalid_datatype' : 'invalid_value'
    case 'minItems':
      return isObjectOrText(error.parentSchema?.['type']) ? 'invalid_datatype' : 'invalid_value'
    case 'enum':
      return error.parentSchema === ACTION_TYPE_SCHEMA ? 'unsupported_action_type' : 'invalid_value'
    default:
      return 'invalid_value'
  }
}

/** Where an object or an expression may stand instead of a list, an empty list stands for neither. */
const isObjectOrText = (types: unknown): boolean =>
  Array.isArray(types) && ['object', 'string'].every((type) => types.includes(type))
