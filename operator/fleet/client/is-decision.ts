// Decides whether what a data plane says is a decision: of the form that those who show it rely on, and of bounded size and
// depth. A sidecar may say anything.

import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'

/** Members that are not known may be there: a gateway may be newer than this operator. */
export const isDecision = (row: ValueMap): boolean => {
  const { document, caller, tried } = row
  return (
    textLengthOf(row, MAX_DEPTH) <= MAX_TEXT_LENGTH &&
    hasForm(row, NEEDED, ALLOWED) &&
    (document === undefined || isMapOf(document, DOCUMENT, { digest: 'string' })) &&
    (caller === undefined || isMapOf(caller, CALLER, { authid: 'string' })) &&
    (tried === undefined || (isList(tried) && tried.every((each) => isMapOf(each, TRIED))))
  )
}

/** A gateway writes some 5 KiB at most. */
const MAX_TEXT_LENGTH = 16 * 1024

/** A decision has a list of maps. */
const MAX_DEPTH = 4

type Form = Readonly<Record<string, 'string' | 'number'>>

const NEEDED: Form = {
  id: 'string',
  at: 'string',
  ms: 'number',
  method: 'string',
  status: 'number',
  step: 'string',
}

const ALLOWED: Form = {
  scheme: 'string',
  code: 'string',
  reason: 'string',
  pointer: 'string',
  attempts: 'number',
  more: 'number',
}

const DOCUMENT: Form = {
  id: 'string',
  version: 'string',
  realm: 'string',
  path: 'string',
  action: 'string',
}

const CALLER: Form = { scheme: 'string', hash: 'string' }

const TRIED: Form = { document: 'string', host: 'string', path: 'string', reason: 'string' }

const isMapOf = (value: Value, needed: Form, allowed: Form = {}): boolean =>
  isMap(value) && hasForm(value, needed, allowed)

const hasForm = (row: ValueMap, needed: Form, allowed: Form): boolean =>
  Object.entries(needed).every(([name, type]) => typeof row[name] === type) &&
  Object.entries(allowed).every(
    ([name, type]) => row[name] === undefined || typeof row[name] === type,
  )

/** Of all texts and names in it, and one for each value; Infinity: it is too deep. */
const textLengthOf = (value: Value, depth: number): number => {
  if (typeof value === 'string') return 1 + value.length
  if (!isList(value) && !isMap(value)) return 1
  if (depth === 0) return Infinity
  let length = 1
  for (const [name, each] of Object.entries(value))
    length += name.length + textLengthOf(each, depth - 1)
  return length
}
