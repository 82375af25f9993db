// Prints values for a terminal: a member a line, indented within maps.

import { isList, isMap, type Value } from '../language/expression/value.ts'
import { plainText } from '../operator/fleet/client/plain-text.ts'

const MOST_DEPTH = 6
const MOST_MEMBERS = 50

/** @example memberLines('action', { type: 'static' }, 2) // ['  action:', '    type: static'] */
export const memberLines = (name: string, value: Value, indent: number): readonly string[] => {
  const blanks = ' '.repeat(indent)
  const isNested = isMap(value) && Object.keys(value).length > 0 && indent < 2 * MOST_DEPTH
  if (!isNested) return [`${blanks}${name}: ${inline(value)}`]
  // Files and gateways have members in another order.
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  const shown = entries
    .slice(0, MOST_MEMBERS)
    .flatMap(([key, each]) => memberLines(key, each, indent + 2))
  const more = entries.length - MOST_MEMBERS
  return [
    `${blanks}${name}:`,
    ...shown,
    ...(more > 0 ? [`${blanks}  … ${more} more (-o json)`] : []),
  ]
}

const inline = (value: Value): string => {
  if (typeof value === 'string') return value
  if (isList(value) && value.every((each) => typeof each === 'string')) return value.join(', ')
  return JSON.stringify(value)
}

const MAX_LINE = 1000

/** As one line that a terminal shows as it is. Indentation stays. */
export const plainLine = (line: string): string => {
  const indent = /^ */.exec(line)?.[0] ?? ''
  return `${indent}${plainWords(line.slice(indent.length))}`
}

/** Blanks within a line keep columns in place. */
const plainWords = (text: string): string =>
  text
    .split(/( {2,})/)
    .map((part) => (/^ {2,}$/.test(part) ? part : plainText(part, MAX_LINE)))
    .join('')
    .trimEnd()
