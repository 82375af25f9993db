// Finds values of a document that are read otherwise than they look, and returns a warning for each: {x} and ${x} are
// plain text, and {{x}} without quotes is a map in YAML.

import { childPointer } from '../../base/json-pointer.ts'
import { isMap, type Value } from '../expression/value.ts'
import type { Warning } from '../problem.ts'
import { MAX_WARNINGS } from './unknown-properties.ts'

/** Texts for people, which may say anything. */
const PROSE: ReadonlySet<string> = new Set(['meta', 'info', 'description', 'summary', 'name'])

/**
 * At most 1000 warnings.
 * @example misreadValues({ host: '{variables.x}' }) // [{ code: 'TakenLiterally', path: '/host', … }]
 */
export const misreadValues = (document: unknown): readonly Warning[] => {
  const warnings: Warning[] = []
  visit(document, '', warnings)
  return warnings
}

const visit = (value: unknown, pointer: string, warnings: Warning[]): void => {
  if (warnings.length >= MAX_WARNINGS) return
  if (typeof value === 'string') {
    const found = value.includes('{') ? describeText(value) : undefined
    if (found !== undefined) warnings.push({ code: 'TakenLiterally', path: pointer, ...found })
  } else if (Array.isArray(value)) visitEntries(value.entries(), pointer, warnings)
  else if (isMap(value)) {
    const expression = unquotedExpression(value)
    if (expression === undefined) visitEntries(Object.entries(value), pointer, warnings)
    else {
      const message = unquotedWords(expression)
      warnings.push({ code: 'UnquotedExpression', path: pointer, message })
    }
  }
}

const visitEntries = (
  entries: Iterable<readonly [string | number, unknown]>,
  pointer: string,
  warnings: Warning[],
): void => {
  for (const [key, value] of entries) {
    // A pointer is put together only where something may be found.
    const isOfInterest =
      typeof value === 'string' ? value.includes('{') : typeof value === 'object' && value !== null
    if (isOfInterest && !PROSE.has(String(key))) visit(value, childPointer(pointer, key), warnings)
  }
}

/**
 * What a map was before YAML read it: `{{variables.x}}` without quotes is a map whose key is a map.
 * @example unquotedExpression({ '{ variables.x }': null }) // '{{variables.x}}'
 */
export const unquotedExpression = (value: unknown): string | undefined => {
  if (!isMap(value)) return undefined
  const [entry, more] = Object.entries(value as Readonly<Record<string, Value>>)
  if (entry === undefined || more !== undefined || entry[1] !== null) return undefined
  const [key] = entry
  if (!key.startsWith('{ ') || !key.endsWith(' }')) return undefined
  const inner = key.slice(2, -2)
  return inner.length <= MAX_INNER ? `{{${inner}}}` : '{{…}}'
}

export const unquotedWords = (expression: string): string =>
  `YAML reads an unquoted {{…}} as a map: write '${expression}', in quotes`

const MAX_INNER = 120

const ROOTS = 'request|action|security|variables|defaults|status_codes'
const PATH_OF_ROOT = new RegExp(`^(?:${ROOTS})(?:\\.[\\w-]+)+(?: *\\|>.*)?$`)
const NAME = /^[A-Za-z_][\w.-]*$/

/** Braces of pages and scripts are their own: they are in lines, or beside tags. */
const isOneLiner = (text: string): boolean => !/[\n<]/.test(text)

interface Described {
  readonly message: string
  readonly offset: number
}

/** The first thing in it that looks like an expression and is none. */
const describeText = (text: string): Described | undefined => {
  let at = text.indexOf('{')
  while (at !== -1) {
    if (text.startsWith('{{', at)) {
      const end = text.indexOf('}}', at)
      if (end === -1) return undefined
      at = text.indexOf('{', end)
      continue
    }
    const end = text.indexOf('}', at)
    if (end === -1) return undefined
    const message = end - at > MAX_INNER ? undefined : describeBraces(text, at, end)
    if (message !== undefined) return { message, offset: text[at - 1] === '$' ? at - 1 : at }
    // Those too far from this end are passed over: time stays in proportion to the length.
    at = text.indexOf('{', Math.max(at + 1, end - MAX_INNER))
  }
  return undefined
}

const describeBraces = (text: string, at: number, end: number): string | undefined => {
  const inner = text.slice(at + 1, end).trim()
  const isDollar = text[at - 1] === '$'
  const written = `${isDollar ? '$' : ''}{${inner}}`
  if (PATH_OF_ROOT.test(inner)) return `${written} is sent as it stands: write {{${inner}}}`
  if (!isDollar || !NAME.test(inner) || !isOneLiner(text)) return undefined
  const name = inner.toLowerCase().replaceAll(/[.-]/g, '_')
  return (
    `${written} is sent as it stands, as variables of the environment are not read: ` +
    `write {{variables.${name}}}, and ${name} among the variables`
  )
}
