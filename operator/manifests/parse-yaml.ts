// Parses a YAML or JSON file into its documents as kubectl would read them, with lines and warnings, or reports the one
// error that makes the file unreadable. Never throws, never evaluates a tag.

import { type Document, LineCounter, parseAllDocuments, type ScalarTag } from 'yaml'
import { pointerKeys } from '../../base/json-pointer.ts'
import { type ScalarWarning, warnOfScalars } from './scalar-warnings.ts'

export interface ParsedDocument {
  readonly value: unknown
  /** Of its first member; the first line of a file is 1. */
  readonly line: number
  readonly warnings: readonly ScalarWarning[]
  /** Line of the value that a JSON pointer leads to, or of its nearest parent. */
  readonly lineOf: (pointer: string) => number
}

export type ParsedFile =
  | { readonly documents: readonly ParsedDocument[] }
  | { readonly fault: { readonly line: number; readonly message: string } }

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
    const read = readDocument(document, counter)
    if ('fault' in read) return read
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
  counter: LineCounter,
): ParsedDocument | { readonly fault: { readonly line: number; readonly message: string } } => {
  const error = document.errors[0]
  if (error !== undefined) {
    return {
      fault: { line: counter.linePos(error.pos[0]).line, message: firstLine(error.message) },
    }
  }
  const lineAt = (offset: number | undefined): number => counter.linePos(offset ?? 0).line
  const line = lineAt(document.contents?.range[0] ?? document.range[0])
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return {
      value,
      line,
      warnings: warnOfScalars(document, lineAt),
      lineOf: (pointer) => lineAt(offsetOf(document, pointer)),
    }
  } catch (error) {
    const message = error instanceof Error ? firstLine(error.message) : String(error)
    return { fault: { line, message } }
  }
}

const offsetOf = (document: Document.Parsed, pointer: string): number | undefined => {
  const keys = pointerKeys(pointer)
  for (let length = keys.length; length > 0; length--) {
    const node: unknown = document.getIn(keys.slice(0, length), true)
    if (hasRange(node)) return node.range[0]
  }
  return document.contents?.range[0]
}

const hasRange = (node: unknown): node is { readonly range: readonly [number, number, number] } =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)

const firstLine = (message: string): string => message.split('\n')[0] ?? message
