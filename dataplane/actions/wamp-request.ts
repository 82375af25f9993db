// The members of a WAMP action, for each request: templates in, checked values out. All of them are
// evaluated before any is checked, so that a fault of the document is told before one of the data.

import { type EvaluationContext, evaluator } from '../../spec/expression/run.ts'
import type { Template } from '../../spec/expression/template.ts'
import type { Value, ValueMap } from '../../spec/expression/value.ts'
import type { WampMatch } from '../../spec/wamp-uri.ts'
import { checkArgs, checkKwargs, checkKwargsMap, checkUri } from './wamp-check.ts'
import { type CheckedOptions, checkOptions, type OptionsKind } from './wamp-options.ts'

export interface WampMembers {
  readonly uri: Template
  readonly options: Template
  readonly args: Template
  readonly kwargs: Template
}

export interface WampRequest {
  readonly uri: string
  readonly options: CheckedOptions
  readonly args: readonly Value[]
  /** Where `options.forwardsIdentity` is set, `_caller` may still be the client's. */
  readonly kwargs: ValueMap
}

const URI_NAMES = {
  call: 'procedure',
  publish: 'topic',
  subscribe: 'topic',
  register: 'procedure',
} as const satisfies Record<OptionsKind, string>

/** What is done with a request in two steps, so that other templates can be evaluated in between. */
export interface RequestReader {
  /** @throws ExpressionError */
  evaluate(context: EvaluationContext): Evaluated
  /** @throws WampFault `wamp.error.invalid_uri`, `wamp.error.invalid_argument` */
  check(evaluated: Evaluated): WampRequest
}

interface Evaluated {
  readonly uri: Value
  readonly options: Value
  readonly args: Value
  readonly kwargs: Value
}

/**
 * @example
 * const reader = prepareWampRequest('call', action)
 * const { uri, args } = reader.check(reader.evaluate(context))
 */
export const prepareWampRequest = (kind: OptionsKind, members: WampMembers): RequestReader => {
  const uri = evaluator(members.uri)
  const options = evaluator(members.options)
  const args = evaluator(members.args)
  const kwargs = evaluator(members.kwargs)
  const checkTheUri = rememberingUri(URI_NAMES[kind])
  const checkTheOptions = once(members.options, (value) => checkOptions(kind, value))
  const checkTheArgs = once(members.args, checkArgs)
  const checkTheKwargs = once(members.kwargs, checkKwargs)
  return {
    evaluate: (context) => ({
      uri: uri(context),
      options: options(context),
      args: args(context),
      kwargs: kwargs(context),
    }),
    check(evaluated) {
      const checked = checkTheOptions(evaluated.options)
      return {
        uri: checkTheUri(evaluated.uri, checked.match),
        options: checked,
        args: checkTheArgs(evaluated.args),
        kwargs: checked.forwardsIdentity
          ? checkKwargsMap(evaluated.kwargs)
          : checkTheKwargs(evaluated.kwargs),
      }
    },
  }
}

/** The same text as last time was fine: most operations only ever see one. */
const rememberingUri = (name: string): ((value: Value, match: WampMatch) => string) => {
  let fine: string | undefined
  let fineFor: WampMatch | undefined
  return (value, match) => {
    if (value !== fine || match !== fineFor) {
      fine = checkUri(name, value, match)
      fineFor = match
    }
    return fine
  }
}

/** What is known at load is checked at the first request alone, whatever comes of it. */
const once = <T>(template: Template, check: (value: Value) => T): ((value: Value) => T) => {
  if (template.kind !== 'constant') return check
  let outcome: (() => T) | undefined
  return (value) => {
    outcome ??= settle(() => check(value))
    return outcome()
  }
}

const settle = <T>(make: () => T): (() => T) => {
  try {
    const made = make()
    return () => made
  } catch (error) {
    return () => {
      throw error instanceof Error ? error : new Error(String(error), { cause: error })
    }
  }
}
