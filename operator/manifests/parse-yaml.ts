// Parses a YAML or JSON file into its documents as kubectl would read them, with lines and warnings, or reports the one
// error that makes the file unreadable. Never throws, never evaluates a tag.

import { type Document, LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'
import { messageOf } from '../../base/thrown.ts'
import {
  type DescribedError,
  describeYamlError,
  offsetOfUnresolved,
} from './describe-yaml-error.ts'
import { offsetOfPointer, type Position } from './locate-pointer.ts'
import { type ScalarWarning, warnOfScalars } from './scalar-warnings.ts'

export interface ParsedDocument {
  readonly value: unknown
  /** The position of its first member. */
  readonly position: Position
  readonly warnings: readonly ScalarWarning[]
  readonly positionOf: PositionOf
}

/**
 * Where the value stands that a JSON pointer leads to, or its nearest parent.
 * @param within a text: the character that is meant, in UTF-16 code units
 */
export type PositionOf = (pointer: string, within?: number) => Position

export type ParsedFile =
  { readonly documents: readonly ParsedDocument[] } | { readonly error: YamlSyntaxError }

export interface YamlSyntaxError extends Position {
  readonly message: string
}

/** The bound on what aliases may multiply to; a document repeats its error response for each path. */
const MAX_ALIASES = 10_000

/** @example parseYaml('on: 1') // {documents: [{value: {true: 1}, …}]} */
export const parseYaml = (text: string): ParsedFile => {
  const counter = new LineCounter()
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: counter,
    customTags: (tags) => [...tags.filter(isKubectl), OCTAL],
  })
  const parsed: ParsedDocument[] = []
  for (const document of documents) {
    const read = readDocument(document, text, counter)
    if ('error' in read) return read
    if (read.value !== null) parsed.push(read)
  }
  return { documents: parsed }
}

/** kubectl keeps times and base 60 as text. */
const isKubectl = (tag: unknown): boolean => {
  if (typeof tag === 'string')
    return tag !== 'timestamp' && tag !== 'intTime' && tag !== 'floatTime'
  const { tag: name, format } = tag as ScalarTag
  return name !== 'tag:yaml.org,2002:timestamp' && format !== 'TIME'
}

/** Not of YAML 1.1, but kubectl reads it. */
const OCTAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  identify: () => false,
  resolve: (text) => Number(text.replace(/^[-+]/, '')) * (text.startsWith('-') ? -1 : 1),
}

const readDocument = (
  document: Document.Parsed,
  text: string,
  counter: LineCounter,
): ParsedDocument | { readonly error: YamlSyntaxError } => {
  const positionAt = (offset: number | undefined): Position => {
    const { line, col } = counter.linePos(offset ?? 0)
    return { line, column: col }
  }
  const errorAt = ({ offset, message }: DescribedError): { readonly error: YamlSyntaxError } => ({
    error: { ...positionAt(offset), message },
  })
  const error = document.errors[0]
  if (error !== undefined) return errorAt(describeYamlError(error, document, text))
  const start = document.contents?.range[0] ?? document.range[0]
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return {
      value,
      position: positionAt(start),
      warnings: warnOfScalars(document, positionAt),
      positionOf: (pointer, within) =>
        positionAt(offsetOfPointer(document, text, { pointer, within })),
    }
  } catch (error) {
    return errorAt({ offset: offsetOfUnresolved(document) ?? start, message: messageOf(error) })
  }
}
