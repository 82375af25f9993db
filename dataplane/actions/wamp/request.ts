// Evaluates and validates the members of a WAMP action for each request. All of them are evaluated before any is
// validated, so that an error of the document is reported before one of the data.

import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import { evaluator } from '../../../language/expression/run.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { WampMatch } from '../../../language/wamp-uri.ts'
import type { Context } from '../../context.ts'
import { type CallTimes, prepareLimits } from '../call-limits.ts'
import { checkArgs, checkInserted, checkKwargs, checkKwargsMap, checkUri } from './validate.ts'
import type { WampEnvironment } from './environment.ts'
import { withCaller } from './identity.ts'
import { type CheckedOptions, checkOptions, type OptionsKind } from './options.ts'
import { type EvaluatedUri, prepareUri } from './uri-value.ts'
import { asError } from '../../../base/thrown.ts'

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
  /** With `_caller` if the document says so, and never with the client's. */
  readonly kwargs: ValueMap
  /** `options.timeout`, if more than 0, is the `timeout`. */
  readonly times: CallTimes
}

const URI_NAMES = {
  call: 'procedure',
  publish: 'topic',
  subscribe: 'topic',
  register: 'procedure',
} as const satisfies Record<OptionsKind, string>

/** @throws ExpressionError; WampError `wamp.error.invalid_uri`, `wamp.error.invalid_argument` */
export type ReadWampRequest = (context: Context) => WampRequest

/**
 * @example
 * const read = prepareWampRequest('call', operation, environment)
 * const { uri, args, times } = read(exchange.context)
 */
export const prepareWampRequest = (
  kind: OptionsKind,
  { action, limits }: Pick<CompiledOperation, 'limits'> & { readonly action: WampMembers },
  environment: Pick<WampEnvironment, 'realmUri' | 'callTimeoutMs'>,
): ReadWampRequest => {
  const uri = prepareUri(action.uri)
  const options = evaluator(action.options)
  const args = evaluator(action.args)
  const kwargs = evaluator(action.kwargs)
  const { realmUri, callTimeoutMs } = environment
  const timesOf = prepareLimits(limits, callTimeoutMs)
  const checkTheUri = rememberingUri(URI_NAMES[kind])
  const checkTheOptions = once(action.options, (value) => checkOptions(kind, value))
  const checkTheArgs = once(action.args, checkArgs)
  const checkTheKwargs = once(action.kwargs, checkKwargs)
  return (context) => {
    const given = {
      uri: uri(context),
      options: options(context),
      args: args(context),
      kwargs: kwargs(context),
    }
    const times = timesOf(context)
    const checked = checkTheOptions(given.options, context)
    return {
      uri: checkTheUri(given.uri, checked.match),
      options: checked,
      args: checkTheArgs(given.args, context),
      kwargs: checked.forwardsIdentity
        ? withCaller(checkKwargsMap(given.kwargs, context), context.security, realmUri)
        : checkTheKwargs(given.kwargs, context),
      times: checked.timeoutMs === 0 ? times : { ...times, timeoutMs: checked.timeoutMs },
    }
  }
}

/** Skips the check for the same text as last time: most operations only ever see one. */
const rememberingUri = (name: string): ((uri: EvaluatedUri, match: WampMatch) => string) => {
  let fine: string | undefined
  let fineFor: WampMatch | undefined
  return ({ value, inserted }, match) => {
    // The same text may have been composed of other values.
    checkInserted(name, inserted, match)
    if (value !== fine || match !== fineFor) {
      fine = checkUri(name, value, match)
      fineFor = match
    }
    return fine
  }
}

/** A value that is known at load is checked only at the first request, whether or not it is valid. */
type Check<T> = (value: Value, context: Context) => T

const once = <T>(template: Template, check: Check<T>): Check<T> => {
  if (template.kind !== 'constant') return check
  let result: (() => T) | undefined
  return (value, context) => {
    result ??= settle(() => check(value, context))
    return result()
  }
}

const settle = <T>(make: () => T): (() => T) => {
  try {
    const made = make()
    return () => made
  } catch (error) {
    return () => {
      throw asError(error)
    }
  }
}
