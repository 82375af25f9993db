// Defines a located problem of a document: data, never an exception. Codes are a closed set that clients may switch on
// (behaviour §2); messages are for people and may change.

export const PROBLEM_CODES = [
  'missing_required_value',
  'invalid_datatype',
  'invalid_value',
  'invalid_path',
  'reserved_path',
  'unsupported_action_type',
  'invalid_expression',
  'no_such_realm',
  'conflict',
  'too_expensive',
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

/** `path` is an RFC 6901 JSON pointer into the document as it was submitted. */
export interface Problem {
  /** `AlwaysFails`: of resources and manifests alone, as for a gateway that loads a document it is a warning. */
  readonly code: ProblemCode | 'AlwaysFails'
  readonly path: string
  readonly message: string
  /** Position in the text at `path`, in UTF-16 code units. Absent: it is about the whole value. Never sent. */
  readonly offset?: number
}

export type WarningCode =
  | 'AlwaysFails'
  | 'UnknownProperty'
  | 'MillisecondsAssumed'
  | 'UnknownContextKey'
  | 'UnsuitableArgument'
  | 'UnsuitableValue'
  | 'SuspiciousExpression'
  | 'TakenLiterally'
  | 'UnquotedExpression'
  | 'ShortTimeout'
  | 'AlwaysForbidden'
  | 'UnsatisfiedSecurity'
  | 'UnsharedKeys'
  | 'ConnectionAddress'
  | 'CountedPerGateway'
  | 'RememberedPerGateway'
  | 'OpenWebSocket'
  | 'ServesNothing'
  | 'Shadowed'
  | 'UnknownService'

/** A diagnostic of a document that loads, for its owner to know. */
export interface Warning {
  readonly code: WarningCode
  readonly path: string
  readonly message: string
  /** As of a problem. */
  readonly offset?: number
}

/** The diagnostic for readers without the file: only a program that shows line and column needs the offset. */
export const withoutOffset = <D extends Problem | Warning>(
  diagnostic: D,
): Pick<D, 'code' | 'path' | 'message'> => {
  const { code, path, message } = diagnostic
  return { code, path, message }
}
