// Prepares the body that a document sends to an upstream: a closure that evaluates its template to bytes and their
// content type.

import { ExpressionError, withTemplate } from '../../../language/expression/errors.ts'
import { jsonWriter, toJson } from '../../../language/expression/json.ts'
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
    return (context, own) => encode(evaluate(context), own)
  }
  const write = jsonWriter(template)
  return (context, own) =>
    own === undefined || mediaKind(own) === 'json'
      ? { bytes: Buffer.from(write(context)), contentType: own ?? JSON_TYPE, isText: true }
      : encode(evaluate(context), own)
}

const encode = (value: Value, own: string | undefined): OutgoingBody => {
  if (value === null || value === '') return NOTHING
  if (typeof value === 'string' || value instanceof Uint8Array)
    return {
      bytes: Buffer.from(value as string),
      contentType: undefined,
      isText: typeof value === 'string',
    }
  const kind = own === undefined ? 'json' : mediaKind(own)
  return {
    bytes: ENCODERS[kind](value),
    contentType: own ?? JSON_TYPE,
    isText: kind !== 'msgpack',
  }
}

const toBytes = (value: Value): Buffer => Buffer.from(toJson(value))

/** A value that a type cannot represent is sent as JSON under that type, as the document says so. */
const ENCODERS = {
  json: toBytes,
  msgpack: writeMsgpack,
  form: (value) => (isMap(value) ? Buffer.from(toForm(value)) : toBytes(value)),
  other: (value) => Buffer.from(toText(value)),
} as const satisfies Record<MediaKind, (value: Value) => Buffer>

const toForm = (map: ValueMap): string => {
  const budget = new SizeBudget()
  const pairs = Object.keys(map).map((name): [string, string] => {
    const text = toText(map[name] ?? null)
    if (budget.take(name.length + text.length)) return [name, text]
    throw new ExpressionError('the value is too large to be written as a form')
  })
  return new URLSearchParams(pairs).toString()
}
