// Compiles a template to a closure that writes its value as text: by the template rule, or for a URL, with values of
// requests percent-encoded except for their own path and query.

import type { Host } from './functions/apply.ts'
import { spendWork, UNITS } from './functions/spend.ts'
import { jsonWriter } from './json.ts'
import { toText } from './render.ts'
import { type EvaluationContext, evaluator, type Insert, joiner } from './run.ts'
import type { Template, TextTemplate } from './template.ts'

export { toText } from './render.ts'

type Write = (context: EvaluationContext) => string

/**
 * Strings verbatim, numbers in decimal, maps and lists as compact JSON (behaviour §1).
 * @throws ExpressionError
 */
const textWriter = (template: Template): Write => {
  if (template.kind === 'map' || template.kind === 'list') return jsonWriter(template)
  const run = evaluator(template)
  return (context) => toText(run(context), context)
}

/** How texts are encoded for a URL. */
export interface UrlEncoding {
  /** For a tag within a longer text: it stays one segment, or one value. */
  readonly part: (text: string) => string
  /** The same behind a `?` of the document's text; if left out, `part`. */
  readonly queryPart?: (text: string) => string
  /**
   * For the document's own text, and for a tag that is the whole text: only characters that can't stand there are
   * encoded.
   */
  readonly text: (text: string) => string
  /** Name of the binding that has the rest of the client's path: in front of a `?` it is passed unchanged too. */
  readonly rest?: string | undefined
}

/**
 * Text for a path or query string (behaviour §4). `request.path` and `request.query_string` are passed unchanged, also
 * within a longer text: an upstream may verify a signature over them.
 * @throws ExpressionError
 * @example urlWriter(template, { part: encodeURIComponent, text: encodeURI })(context) // '/orders/a%2Fb' for '/orders/{{…}}'
 */
export const urlWriter = (
  template: Template,
  { part, queryPart = part, text, rest }: UrlEncoding,
): Write => {
  const only = wholeOf(template)
  if (only !== undefined) {
    const write = textWriter(only)
    if (isClients(only, rest)) return write
    if (only.kind !== 'constant') return (context) => encode(text, write(context), context)
    let known: string | undefined
    return (context) => (known ??= encode(text, write(context), context))
  }
  const [path, query] = splitAtQuery(withText(template as TextTemplate, text))
  const writePath = joiner(path, insertBy(part, text, rest))
  if (query.parts.length === 0) return writePath
  const writeQuery = joiner(query, insertBy(queryPart, text))
  return (context) => writePath(context) + writeQuery(context)
}

const insertBy =
  (part: UrlEncoding['part'], text: UrlEncoding['text'], rest?: string): Insert =>
  (value, inserted, context) => {
    const written = toText(value, context)
    return isClients(inserted, rest)
      ? written
      : encode(inserted.kind === 'constant' ? text : part, written, context)
  }

/** What stands before the first `?` of the document's own text, and the rest with it; texts within texts are resolved. */
const splitAtQuery = (template: TextTemplate): readonly [TextTemplate, TextTemplate] => {
  const parts = flatParts(template)
  const at = parts.findIndex((part) => typeof part === 'string' && part.includes('?'))
  const split = parts[at]
  if (typeof split !== 'string') return [textOf(parts), textOf([])]
  const mark = split.indexOf('?')
  return [
    textOf([...parts.slice(0, at), split.slice(0, mark)]),
    textOf([split.slice(mark), ...parts.slice(at + 1)]),
  ]
}

const flatParts = ({ parts }: TextTemplate): TextTemplate['parts'] =>
  parts.flatMap((part) =>
    typeof part !== 'string' && part.kind === 'text' ? flatParts(part) : [part],
  )

const textOf = (parts: TextTemplate['parts']): TextTemplate => ({ kind: 'text', parts })

const encode = (encoding: UrlEncoding['text'], written: string, context: Host): string => {
  spendWork(context, written.length * UNITS.encodedCharacter)
  return encoding(written)
}

/**
 * One tag is the whole text: `{{request.body.x}}`, in double quotes or not. A variable that is a longer text is none.
 */
export const isWhole = (template: Template): boolean => wholeOf(template) !== undefined

const wholeOf = (template: Template): Exclude<Template, TextTemplate> | undefined => {
  if (template.kind !== 'text') return template
  const [first, second] = template.parts
  const isAlone = second === undefined && first !== undefined && typeof first !== 'string'
  return isAlone ? wholeOf(first) : undefined
}

/** The client's own path, the rest of it, or the query string, unchanged. */
const isClients = (template: Template, rest: string | undefined): boolean => {
  if (template.kind !== 'read' || template.root !== 'request') return false
  const [field, name, ...deeper] = template.keys
  if (field === 'bindings') return name === rest && rest !== undefined && deeper.length === 0
  return name === undefined && (field === 'path' || field === 'query_string')
}

/** With its own literal text encoded, and that of texts within it too. */
const withText = (template: TextTemplate, encode: (text: string) => string): TextTemplate => ({
  ...template,
  parts: template.parts.map((part) => {
    if (typeof part === 'string') return encode(part)
    return part.kind === 'text' ? withText(part, encode) : part
  }),
})
