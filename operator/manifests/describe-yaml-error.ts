// Says in plain words, and at the place that has to be changed, why a text is not YAML. The parser names its own rules,
// and where it noticed.

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

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
  return (
    unquotedExpression(here) ??
    DESCRIPTIONS[error.code]?.({ document, text, offset, here }, error.message) ?? {
      offset,
      message: firstLine(error.message),
    }
  )
}

/** Of what the parser throws when it resolves aliases and merge keys. */
export const describeUnresolved = (document: Document.Parsed): DescribedError | undefined => {
  let found: DescribedError | undefined
  visit(document, {
    Pair: (_key, { key, value }) => {
      if (!isScalar(key) || key.source !== '<<' || isMergeable(value, document)) return undefined
      found = { offset: key.range?.[0] ?? 0, message: MERGE_WORDS }
      return visit.BREAK
    },
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return undefined
      found = { offset: alias.range?.[0] ?? 0, message: aliasWords(alias.source) }
      return visit.BREAK
    },
  })
  return found
}

const MERGE_WORDS =
  "<< puts the members of other maps here: its value must be a map, such as *name of an anchor &name; write '<<', in quotes, if it is a key"

/** A map or a list of maps. A list in it is none, and may be the list itself: `&a [*a]`. */
const isMergeable = (value: unknown, document: Document.Parsed): boolean => {
  const target = resolved(value, document)
  const sources = isSeq(target) ? target.items.map((item) => resolved(item, document)) : [target]
  // One that leads nowhere is described as such.
  return sources.every((source) => source === undefined || isMap(source))
}

const resolved = (value: unknown, document: Document.Parsed): unknown =>
  isAlias(value) ? value.resolve(document) : value

const aliasWords = (name: string): string =>
  `*${shorten(name)} refers to an anchor &${shorten(name)}, which is not there: write '*${shorten(name)}', in quotes, if it is a text`

interface Line {
  readonly start: number
  readonly text: string
}

const lineAt = (text: string, offset: number): Line => {
  const start = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
  const end = text.indexOf('\n', start)
  return { start, text: text.slice(start, end === -1 ? undefined : end).slice(0, MAX_LINE) }
}

const lineAfter = (text: string, { start }: Line): Line | undefined => {
  const end = text.indexOf('\n', start)
  return end === -1 || end + 1 >= text.length ? undefined : lineAt(text, end + 1)
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

/** Of a value in a flow map, without what closes the map, and the members behind it. */
const withoutClosers = (value: string): string => {
  const count = (brackets: RegExp): number => value.match(brackets)?.length ?? 0
  if (count(/[{[]/g) >= count(/[}\]]/g)) return value
  return /^(?:[^{},[\]]|\{\{[^{}]*\}\})*/.exec(value)?.[0] ?? value
}

/** `{body: a {{x}}}`: in a flow map a brace ends a text that has no quotes. */
const unquotedInFlow = ({ start, text }: Line, offset: number): DescribedError | undefined => {
  const at = Math.max(0, offset - start)
  const begun =
    /(?:[,[{]|:[ \t])[ \t]*((?:[^\s:,[{}\]]|:(?=\S))(?:[^:,[{}\]]|:(?=\S))*)$/.exec(
      text.slice(0, at),
    )?.[1] ?? ''
  if (!text.startsWith('{{', at)) return undefined
  const value = `${begun}${text.slice(at)}`
  const message = `a text with {{…}} needs quotes in a flow map: ${quoteWords(value)}`
  return { offset: offset - begun.length, message }
}

interface Place {
  readonly document: Document.Parsed
  readonly text: string
  readonly offset: number
  readonly here: Line
}

type Describe = (place: Place, message: string) => DescribedError | undefined

/** What the parser calls it → what it is for a person, and where. */
const DESCRIPTIONS: Readonly<Partial<Record<YAMLError['code'], Describe>>> = {
  BLOCK_AS_IMPLICIT_KEY: (place) => describeNested(place),
  MULTILINE_IMPLICIT_KEY: (place) => ({
    offset: place.offset,
    message: restOfLine(place).startsWith('- ')
      ? 'an item of a list stands among the keys of a map here: leave out the -, or indent it below its key'
      : `a colon is missing in '${shorten(restOfLine(place))}': write 'key: value'`,
  }),
  DUPLICATE_KEY: (place) => ({ offset: place.offset, message: describeDuplicate(place) }),
  MISSING_CHAR: ({ document, offset }) => describeOpenQuote(document, offset),
  TAB_AS_INDENT: ({ offset }) => ({
    offset,
    message: 'a tab indents this line: write spaces, as YAML has no tabs here',
  }),
  BAD_SCALAR_START: (place) => ({
    offset: place.offset,
    message: needsQuotes(restOfLine(place)),
  }),
  BAD_ALIAS: ({ offset, text }) => ({
    offset,
    message:
      text.charAt(offset) === '&'
        ? "& begins an anchor, and has no name: write '&', in quotes, if it is a text"
        : "* begins a reference to an anchor: write '*', in quotes, if it is a text",
  }),
  BAD_INDENT: (place, message) =>
    message.startsWith('All')
      ? {
          offset: place.here.start + place.here.text.search(/\S|$/),
          message: 'this line is indented differently from its neighbours: align it with them',
        }
      : describeOpenBracket(place),
  BLOCK_IN_FLOW: ({ offset }) => ({
    offset,
    message: 'a comma, or a closing bracket or brace, is missing',
  }),
  UNEXPECTED_TOKEN: ({ here, offset }) => unquotedInFlow(here, offset) ?? describeBlockScalar(here),
}

const describeOpenBracket = ({ document, text, offset }: Place): DescribedError => {
  let opened: YAMLMap | YAMLSeq | undefined
  visit(document, {
    Collection: (_key, node) => {
      const start = node.range?.[0] ?? Infinity
      if (node.flow === true && start <= offset && !isClosed(node, text)) opened = node
    },
  })
  return opened?.range === undefined || opened.range === null
    ? { offset, message: 'a bracket or brace that was opened before is not closed' }
    : {
        offset: opened.range[0],
        message: `the ${text.charAt(opened.range[0])} that is opened here is not closed, or its lines are not indented; write it in quotes, if it is a text`,
      }
}

const isClosed = ({ range }: YAMLMap | YAMLSeq, text: string): boolean =>
  /[\]}]/.test(text.charAt((range?.[1] ?? 0) - 1))

const restOfLine = ({ offset, here }: Place): string =>
  here.text.slice(Math.max(0, offset - here.start)).trim()

const needsQuotes = (text: string): string =>
  `a text that begins with ${text.charAt(0)} needs quotes: write '${shorten(text)}'`

/** `key: >= 5`: | and > begin a text of several lines. */
const describeBlockScalar = ({ start, text }: Line): DescribedError | undefined => {
  const value = /(?:^|[:-])[ \t]+([|>].*)$/.exec(text)?.[1]
  if (value === undefined) return undefined
  return { offset: start + text.length - value.length, message: needsQuotes(value.trimEnd()) }
}

/** A second colon in one line, or a line below that is indented although this one has a value. */
const describeNested = ({ text, offset, here }: Place): DescribedError => {
  const value = here.text.slice(offset - here.start)
  if (/:(?:\s|$)/.test(value)) {
    const written = shorten(value.replace(/\s+#.*$/, '').trimEnd())
    return {
      offset,
      message: `a text that contains ': ' needs quotes: write '${written}', or put what is behind the first colon on a line of its own`,
    }
  }
  const below = lineAfter(text, here)
  return {
    offset: below === undefined ? offset : below.start + below.text.search(/\S|$/),
    message: 'this line is indented deeper than the one above, which has a value already: align it',
  }
}

const describeDuplicate = ({ text, offset, here }: Place): string => {
  const indent = offset - here.start
  const name =
    /^(?:"[^"]*"|'[^']*'|[^:\n]*)/.exec(text.slice(offset, offset + MAX_LINE))?.[0].trim() ?? ''
  const first = firstWithKey(text.slice(0, here.start).split('\n'), indent, name)
  const where = first === undefined ? '' : `, in line ${first}`
  return `the key '${shorten(name)}' is there twice${where}: each may be there once`
}

/** The nearest line above that begins a key of the same map. */
const firstWithKey = (
  above: readonly string[],
  indent: number,
  name: string,
): number | undefined => {
  for (let index = above.length - 1; index >= 0; index--) {
    const line = above[index] ?? ''
    if (line.slice(indent).startsWith(`${name}:`) && /^[\s-]*$/.test(line.slice(0, indent)))
      return index + 1
  }
  return undefined
}

const describeOpenQuote = (document: Document.Parsed, end: number): DescribedError | undefined => {
  let opened: Scalar | undefined
  visit(document, {
    Scalar: (_key, node) => {
      if (isQuoted(node) && (node.range?.[0] ?? Infinity) <= end) opened = node
    },
  })
  if (!isScalar(opened) || opened.range === undefined || opened.range === null) return undefined
  const quote = opened.type === Scalar.QUOTE_SINGLE ? "'" : '"'
  return { offset: opened.range[0], message: `the text that begins here has no closing ${quote}` }
}

const isQuoted = ({ type }: Scalar): boolean =>
  type === Scalar.QUOTE_SINGLE || type === Scalar.QUOTE_DOUBLE

const shorten = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`

const firstLine = (message: string): string => message.split('\n')[0] ?? message
