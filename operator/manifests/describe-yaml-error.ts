// Says in plain words, and at the place that has to be changed, what is wrong with a text in YAML where it is one of the
// mistakes that authors make most. For all others the parser's own message is shown.

import { type Document, isScalar, visit, type YAMLError } from 'yaml'

export interface DescribedError {
  /** Into the whole text. */
  readonly offset: number
  readonly message: string
}

/** Lines are looked at this far. */
const MAX_LINE = 500
const MAX_SHOWN = 60

/** @example 'host: {{variables.x}}/a' // "YAML reads an unquoted {{…}} as a map: write '{{variables.x}}/a', in quotes" */
export const describeYamlError = (
  error: YAMLError,
  document: Document.Parsed,
  text: string,
): DescribedError => {
  const offset = error.pos[0]
  const here = lineAt(text, offset)
  const at = Math.max(0, offset - here.start)
  return (
    unquotedExpression(here) ??
    unquotedInFlow(here, at) ?? {
      offset,
      message:
        DESCRIPTIONS[error.code]?.({ document, text, offset, rest: here.text.slice(at).trim() }) ??
        firstLine(error.message),
    }
  )
}

/** Where the alias stands whose anchor is missing, as the parser does not say. */
export const offsetOfUnresolved = (document: Document.Parsed): number | undefined => {
  let offset: number | undefined
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return undefined
      offset = alias.range?.[0]
      return visit.BREAK
    },
  })
  return offset
}

interface Line {
  readonly start: number
  readonly text: string
}

const lineAt = (text: string, offset: number): Line => {
  const start = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
  const end = text.indexOf('\n', start)
  return { start, text: text.slice(start, end === -1 ? undefined : end).slice(0, MAX_LINE) }
}

/** `key: {{x}}/y`, which the parser stumbles over behind the braces. */
const unquotedExpression = ({ start, text }: Line): DescribedError | undefined => {
  const found = /(?:^|[:[,-])[ \t]*(\{\{.*\}\}.*)$/.exec(text)
  const value = found?.[1]
  if (value === undefined) return undefined
  const message = `YAML reads an unquoted {{…}} as a map: ${quoteWords(value)}`
  return { offset: start + text.length - value.length, message }
}

const quoteWords = (value: string): string => {
  const written = withoutClosers(value.replace(/\s+#.*$/, '')).trimEnd()
  return `write '${shorten(written.replaceAll("'", "''"))}', in quotes`
}

/** Gives a value in a flow map without what closes the map, and the members behind it. */
const withoutClosers = (value: string): string => {
  const count = (brackets: RegExp): number => value.match(brackets)?.length ?? 0
  if (count(/[{[]/g) >= count(/[}\]]/g)) return value
  return /^(?:[^{},[\]]|\{\{[^{}]*\}\})*/.exec(value)?.[0] ?? value
}

/** `{body: a {{x}}}`: in a flow map a brace ends a text that has no quotes. */
const unquotedInFlow = ({ start, text }: Line, at: number): DescribedError | undefined => {
  if (!text.startsWith('{{', at)) return undefined
  const begun =
    /(?:[,[{]|:[ \t])[ \t]*((?:[^\s:,[{}\]]|:(?=\S))(?:[^:,[{}\]]|:(?=\S))*)$/.exec(
      text.slice(0, at),
    )?.[1] ?? ''
  const message = `a text with {{…}} needs quotes in a flow map: ${quoteWords(`${begun}${text.slice(at)}`)}`
  return { offset: start + at - begun.length, message }
}

interface Place {
  readonly document: Document.Parsed
  readonly text: string
  readonly offset: number
  /** What follows it in its line. */
  readonly rest: string
}

/** What the parser calls it → what it is for a person; undefined: something else. */
const DESCRIPTIONS: Readonly<
  Partial<Record<YAMLError['code'], (place: Place) => string | undefined>>
> = {
  MULTILINE_IMPLICIT_KEY: ({ rest }) =>
    rest.startsWith('- ')
      ? undefined
      : `a colon is missing in '${shorten(rest)}': write 'key: value'`,
  DUPLICATE_KEY: (place) => describeDuplicate(place),
  TAB_AS_INDENT: () => 'a tab indents this line: write spaces, as YAML has no tabs here',
}

const describeDuplicate = ({ document, text, offset }: Place): string | undefined => {
  let message: string | undefined
  visit(document, {
    Map: (_key, { items }) => {
      const keys = items.map(({ key }) => key).filter(isScalar)
      const second = keys.find(({ range }) => range?.[0] === offset)
      if (second === undefined) return undefined
      const first = keys.find(({ value }) => value === second.value)
      const line = text.slice(0, first?.range?.[0]).split('\n').length
      message = `the key '${shorten(String(second.value))}' is there twice, first in line ${line}: each may be there once`
      return visit.BREAK
    },
  })
  return message
}

const shorten = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`

const firstLine = (message: string): string => message.split('\n')[0] ?? message
