// Describes what went wrong in an expression, for an error record or a problem: the expression, the key or function,
// what was expected. Bounded, whatever the values; never a stack, never a whole value.

import { CodedError } from '../../base/coded-error.ts'
import type { Template } from './template.ts'
import { isList, type Value } from './value.ts'

const MAX_MESSAGE_BYTES = 1024
const SHOWN_SOURCE = 256
const SHOWN_KEY = 80
const SHOWN_TEXT = 32

/**
 * An expression that can't be evaluated for this request (behaviour §1): 500 with this code, unless `clientErrorOf` its
 * place says that the client is to blame.
 * @example new ExpressionError("{{request.body.nope}}: there is no key 'nope' in request.body")
 */
export class ExpressionError extends CodedError<'svc.error.http_gateway.invalid_expression'> {
  /** Not enumerable: loggers print what is. */
  readonly #place: FailingPlace

  constructor(
    message: string,
    { template, isMissing, member, ...options }: ExpressionErrorOptions = {},
  ) {
    super('svc.error.http_gateway.invalid_expression', boundMessage(message), options)
    this.#place = { template, isMissing, member }
  }

  get place(): FailingPlace {
    return this.#place
  }
}

/** Which value of an operation has failed, as far as the code that throws the error knows. */
export interface FailingPlace {
  /** The expression that has no value, or a value of a wrong type. */
  readonly template?: Template | undefined
  /** The template is a read, and there is nothing to read. */
  readonly isMissing?: boolean | undefined
  /** The member of the operation that has a value of a wrong type: `/action/host`. */
  readonly member?: string | undefined
}

interface ExpressionErrorOptions extends ErrorOptions, FailingPlace {}

/** The error, with the template that it is about if it does not know one. */
export const withTemplate = (error: unknown, template: Template | undefined): unknown =>
  error instanceof ExpressionError && error.place.template === undefined
    ? new ExpressionError(error.message, { ...error.place, template, cause: error })
    : error

/** Why a function gives no value, before it is known in which expression it stands: "takes a list". */
export class FunctionError extends CodedError<'function_failed'> {
  /** Not enumerable: loggers print what is, and this is request data. */
  readonly #got: Value | undefined

  constructor(expected: string, got?: Value, options?: ErrorOptions) {
    super('function_failed', expected, options)
    this.#got = got
  }

  get got(): Value | undefined {
    return this.#got
  }
}

/**
 * Why a function of that name did not do it.
 * @example explainFunctionError('nth', error, showValue) // 'nth takes a list, got text "abc"'
 */
export const explainFunctionError = (
  name: string,
  error: unknown,
  show: (value: Value) => string,
): string => {
  if (error instanceof FunctionError) {
    return `${name} ${error.message}${error.got === undefined ? '' : `, got ${show(error.got)}`}`
  }
  const reason = error instanceof ExpressionError ? error.message : 'the value is too large'
  return `${name} failed: ${reason}`
}

/** At most 1 KiB of UTF-8. */
export const boundMessage = (message: string): string => {
  const room = new Uint8Array(MAX_MESSAGE_BYTES)
  const fits = new TextEncoder().encodeInto(message, room).read
  return fits === message.length ? message : clip(message, fits - 3)
}

/** The expression as written, cut. */
export const showSource = (source: string): string => clip(source, SHOWN_SOURCE)

export const showKey = (key: string): string => `'${clip(key, SHOWN_KEY)}'`

/** A value for a message: short texts and numbers, else the kind alone. */
export const showValue = (value: Value): string => {
  if (typeof value === 'string') return `text ${JSON.stringify(clip(value, SHOWN_TEXT))}`
  if (typeof value === 'number') return `number ${value}`
  return typeof value === 'boolean' ? String(value) : kindOf(value)
}

/** The kind of a value alone: what may be shown of a value that could come from a Secret. */
export const kindOf = (value: Value): string => {
  if (value === null) return 'null'
  if (isList(value)) return 'a list'
  if (value instanceof Uint8Array) return 'bytes'
  return KINDS[typeof value as 'string' | 'number' | 'boolean' | 'object']
}

const KINDS = { string: 'text', number: 'a number', boolean: 'a boolean', object: 'a map' } as const

/** Never cuts a surrogate pair in two. */
const clip = (text: string, length: number): string => {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return `${text.slice(0, isHalf ? length - 1 : length)}…`
}
