// Writes a value as text that equal values have in common, whatever the order of their members.

import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import type { Spend } from './linear-pattern.ts'

/** A part that could not be paid for is left out: the run is over then. @example canonicalText({ b: 1, a: 2 }) // '{"a":2,"b":1}' */
export const canonicalText = (value: Value, spend: Spend = () => true): string => {
  if (typeof value === 'string') return spend(value.length >> 3) ? JSON.stringify(value) : ''
  if (typeof value !== 'object' || value === null) return String(value === 0 ? 0 : value)
  if (isList(value)) return listText(value, spend)
  return isMap(value) ? mapText(value, spend) : `bytes ${Buffer.from(value).toString('hex')}`
}

/** The cost of a member or an item, measured: text takes longer than looking at a value. */
const COST = 8

const listText = (list: readonly Value[], spend: Spend): string => {
  let text = '['
  for (const each of list) {
    if (!spend(COST)) return ''
    text += `${canonicalText(each, spend)},`
  }
  return `${text}]`
}

const mapText = (map: ValueMap, spend: Spend): string => {
  let text = '{'
  for (const name of Object.keys(map).sort()) {
    if (!spend(COST)) return ''
    text += `${JSON.stringify(name)}:${canonicalText(map[name] ?? null, spend)},`
  }
  return `${text}}`
}
