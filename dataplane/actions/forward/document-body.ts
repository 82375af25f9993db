// Prepares the body that a document sends to an upstream: a closure that evaluates its template to bytes and their
// content type.

import { ExpressionError, withTemplate } from '../../../language/expression/errors.ts'
import { spendWork, UNITS } from '../../../language/expression/functions/spend.ts'
import { chargeWriting, jsonWriter, toJson } from '../../../language/expression/json.ts'
import { keysOf } from '../../../language/expression/keys.ts'
import { type EvaluationContext, evaluator } from '../../../language/expression/run.ts'
import { SizeBudget } from '../../../language/expression/size-budget.ts'
import type { Template } from '../../../language/expression/template.ts'
import { toText } from '../../../language/expression/text.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { mediaKind, type MediaKind } from '../../../language/routes/media-kind.ts'
import { writeMsgpack } from '../../codec/write-msgpack.ts'

export interface OutgoingBody {
  readonly bytes: Buffer | null
  /** undefined: the present one (the document's, otherwise the request's) is right. */
  readonly contentType: string | undefined
  /** It is text in UTF-8, whatever charset the present content type names. */
  readonly isText: boolean
}

const NOTHING: OutgoingBody = { bytes: null, contentType: undefined, isText: false }
const JSON_TYPE = 'application/json'

/**
 * Maps and lists become JSON, unless `own`, the content type among the document's headers, names another
 * type that can represent them. Text and bytes are sent as they are. `""` and null are no body.
 *
 * @throws ExpressionError (of the closure)
 */
export const prepareDocumentBody = (
  template: Template,
): ((context: EvaluationContext, own: string | undefined) => OutgoingBody) => {
  const encode = prepareEncoding(template)
  return (context, own) => {
    try {
      return encode(context, own)
    } catch (error) {
      throw withTemplate(error, template)
    }
  }
}

const prepareEncoding = (
  template: Template,
): ((context: EvaluationContext, own: string | undefined) => OutgoingBody) => {
  const evaluate = evaluator(template)
  if (template.kind !== 'map' && template.kind !== 'list') {
    return (context, own) => encode(evaluate(context), own, context)
  }
  const write = jsonWriter(template)
  return (context, own) =>
    own === undefined || mediaKind(own) === 'json'
      ? { bytes: Buffer.from(write(context)), contentType: own ?? JSON_TYPE, isText: true }
      : encode(evaluate(context), own, context)
}

const encode = (
  value: Value,
  own: string | undefined,
  context: EvaluationContext,
): OutgoingBody => {
  if (value === null || value === '') return NOTHING
  if (typeof value === 'string' || value instanceof Uint8Array)
    return {
      bytes: Buffer.from(value as string),
      contentType: undefined,
      isText: typeof value === 'string',
    }
  const kind = own === undefined ? 'json' : mediaKind(own)
  return {
    bytes: ENCODERS[kind](value, context),
    contentType: own ?? JSON_TYPE,
    isText: kind !== 'msgpack',
  }
}

type Encode = (value: Value, context: EvaluationContext) => Buffer

const toBytes: Encode = (value, context) => Buffer.from(toJson(value, context))

/** A value that a type cannot represent is sent as JSON under that type, as the document says so. */
const ENCODERS = {
  json: toBytes,
  msgpack: (value, context) => {
    chargeWriting(value, context)
    return writeMsgpack(value)
  },
  form: (value, context) =>
    isMap(value) ? Buffer.from(toForm(value, context)) : toBytes(value, context),
  other: (value, context) => Buffer.from(toText(value, context)),
} as const satisfies Record<MediaKind, Encode>

const toForm = (map: ValueMap, context: EvaluationContext): string => {
  const budget = new SizeBudget()
  const pairs = keysOf(map, context).map((name): [string, string] => {
    const text = toText(map[name] ?? null, context)
    spendWork(context, UNITS.pair + name.length + text.length)
    if (budget.take(name.length + text.length)) return [name, text]
    throw new ExpressionError('the value is too large to be written as a form')
  })
  return new URLSearchParams(pairs).toString()
}
