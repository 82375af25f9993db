// Finds values of a document that are read otherwise than they look, and returns a warning for each: {x}, ${x} and $X are
// plain text, and {{x}} without quotes is a map in YAML.

import { childPointer } from '../../base/json-pointer.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import type { Warning } from '../problem.ts'
import { MAX_WARNINGS } from './unknown-properties.ts'

/** Texts for people, which may say anything. */
const PROSE: ReadonlySet<string> = new Set(['meta', 'info', 'description', 'summary', 'name'])

/**
 * At most 1000 warnings.
 * @example misreadValues({ host: '{variables.x}' }) // [{ code: 'TakenLiterally', path: '/host', … }]
 */
export const misreadValues = (document: unknown): readonly Warning[] => {
  const walk: Walk = { keys: [], warnings: [] }
  visit(document, walk)
  return walk.warnings
}

/** Where the walk is and what it has found. Pointers are built for warnings only. */
interface Walk {
  readonly keys: (string | number)[]
  readonly warnings: Warning[]
}

const visit = (value: unknown, walk: Walk): void => {
  if (walk.warnings.length >= MAX_WARNINGS) return
  if (typeof value === 'string') {
    const found =
      (value.includes('{') ? describeText(value) : undefined) ??
      (value.includes('$') ? describeShell(value, walk.keys.at(-1)) : undefined)
    if (found !== undefined)
      walk.warnings.push({ code: 'TakenLiterally', path: pointerOf(walk), ...found })
  } else if (Array.isArray(value))
    value.forEach((item, index) => {
      visitEntry(index, item, walk)
    })
  else if (isMap(value)) {
    const expression = unquotedExpression(value)
    if (expression === undefined) visitMap(value, walk)
    else {
      const message = unquotedWords(expression)
      walk.warnings.push({ code: 'UnquotedExpression', path: pointerOf(walk), message })
    }
  }
}

const visitMap = (map: ValueMap, walk: Walk): void => {
  for (const key of Object.keys(map)) if (!PROSE.has(key)) visitEntry(key, map[key], walk)
}

const visitEntry = (key: string | number, value: unknown, walk: Walk): void => {
  if (typeof value !== 'string' && typeof value !== 'object') return
  walk.keys.push(key)
  visit(value, walk)
  walk.keys.pop()
}

const pointerOf = ({ keys }: Walk): string => keys.reduce<string>(childPointer, '')

/**
 * What a map was before YAML read it: `{{variables.x}}` without quotes is a map whose key is a map.
 * @example unquotedExpression({ '{ variables.x }': null }) // '{{variables.x}}'
 */
export const unquotedExpression = (value: unknown): string | undefined => {
  if (!isMap(value)) return undefined
  const [key, more] = Object.keys(value)
  if (key === undefined || more !== undefined || value[key] !== null) return undefined
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
  return isDollar && NAME.test(inner) && isOneLiner(text)
    ? environmentWords(written, inner)
    : undefined
}

const environmentWords = (written: string, inner: string): string => {
  const name = inner.toLowerCase().replaceAll(/[.-]/g, '_')
  return (
    `${written} is sent as it stands, as variables of the environment are not read: ` +
    `write {{variables.${name}}}, and ${name} among the variables`
  )
}

/** Lower case is no such variable: `/$metadata` is a path of OData. */
const SHELL_AS_HOST = /:\/\/\$([A-Z_][A-Z0-9_]*)\b/
const SHELL = /\$([A-Z_][A-Z0-9_]*)\b/

const describeShell = (text: string, key: string | number | undefined): Described | undefined => {
  const match = (key === 'host' || key === 'path' ? SHELL : SHELL_AS_HOST).exec(text)
  const [found, name] = match ?? []
  if (match === null || found === undefined || name === undefined || !isOneLiner(text))
    return undefined
  const offset = match.index + found.indexOf('$')
  return { message: environmentWords(`$${name}`, name), offset }
}
