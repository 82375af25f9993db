// Warns of plain scalars that YAML 1.1, which kubectl reads, interprets differently from most people and YAML 1.2, each
// with line and pointer.

import { type Document, isPair, isScalar, Scalar, visit } from 'yaml'
import { childPointer } from '../../base/json-pointer.ts'
import type { Position } from './locate-pointer.ts'

export interface ScalarWarning {
  readonly position: Position
  readonly path: string
  readonly message: string
}

const MAX_WARNINGS = 100

type Ancestors = readonly unknown[]

export const warnOfScalars = (
  document: Document.Parsed,
  positionAt: (offset: number | undefined) => Position,
): readonly ScalarWarning[] => {
  const warnings: ScalarWarning[] = []
  visit(document, {
    Scalar: (_key, node, ancestors) => {
      if (warnings.length === MAX_WARNINGS) return visit.BREAK
      const message = describeTag(node) ?? (node.type === Scalar.PLAIN ? describe(node) : undefined)
      if (message !== undefined) {
        const path = pointerTo(node, ancestors)
        warnings.push({ position: positionAt(node.range?.[0]), path, message })
      }
      return undefined
    },
  })
  return warnings
}

/** `!word`, which YAML has for types of its own. */
const describeTag = ({ tag, source = '' }: Scalar): string | undefined =>
  tag?.startsWith('!') === true
    ? `${shorten(tag)} is read as a type of YAML and left out: write '${shorten(`${tag} ${source}`.trim())}' if it is a text`
    : undefined

const MAX_SHOWN = 60

const shorten = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`

/** The warning about a scalar, if there is one. */
const describe = ({ source = '', value }: Scalar): string | undefined => {
  // A merge key.
  if (typeof value === 'symbol') return undefined
  if (typeof value === 'string') return BASE_60.test(source) ? base60Words(source) : undefined
  const core = readCore(source)
  if (core === value || (core === null && value === null)) return undefined
  const is = typeof value === 'boolean' ? String(value) : `the number ${String(value)}`
  return `${source} is read as ${is}, as kubectl does: write '${source}' if it is a text`
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

const base60Words = (source: string): string =>
  `${source} is a text here and for kubectl, and a number for other YAML 1.1 readers: write '${source}'`

/** What YAML 1.2 (core schema) makes of a plain scalar, which is what people expect. */
const readCore = (source: string): unknown => {
  if (/^(?:|~|null|Null|NULL)$/.test(source)) return null
  if (/^(?:true|True|TRUE)$/.test(source)) return true
  if (/^(?:false|False|FALSE)$/.test(source)) return false
  if (/^(?:[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+)$/.test(source)) return Number(source)
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(source))
    return Number(source)
  const special = /^([-+]?)\.(?:inf|Inf|INF)$/.exec(source)
  if (special !== null) return special[1] === '-' ? -Infinity : Infinity
  return source
}

const pointerTo = (node: Scalar, ancestors: Ancestors): string => {
  let path = ''
  const chain = [...ancestors, node]
  for (const [i, ancestor] of chain.entries()) {
    if (isPair(ancestor)) path = childPointer(path, nameOf(ancestor.key))
    const next = chain[i + 1]
    const items = itemsOf(ancestor)
    if (next !== undefined && items !== undefined && !isPair(next)) {
      path = childPointer(path, items.indexOf(next))
    }
  }
  return path
}

const nameOf = (key: unknown): string => (isScalar(key) ? String(key.value) : '')

const itemsOf = (node: unknown): readonly unknown[] | undefined =>
  typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items)
    ? (node.items as readonly unknown[])
    : undefined
