// Describes a spec as data, and checks unknown YAML against such a shape. realm-record.ts maps by it, and the CRDs are
// generated from it. Reports every problem with its pointer, and never stops at the first.

import { childPointer } from '../../base/json-pointer.ts'
import { nearestName } from '../../base/nearest-name.ts'
import { memberAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { unitHint } from '../../language/validate/unit-hints.ts'

export type Shape = (
  | StringShape
  | { readonly type: 'integer'; readonly minimum?: number }
  | { readonly type: 'boolean' }
  /** `{secretRef: {name, key}}`; where `inline` is true also the text itself (hashes, never secrets). */
  | { readonly type: 'secret'; readonly inline: boolean }
  | ListShape
  | MapShape
  /** Keys are the field names below, camelCase. */
  | ObjectShape
  | OpenShape
) &
  Ruled

export interface StringShape extends Ruled {
  readonly type: 'string'
  readonly oneOf?: readonly string[]
  readonly maxLength?: number
  /** Values of labels may; nothing else. */
  readonly mayBeEmpty?: boolean
  /** For the API server alone. */
  readonly format?: 'date-time'
}

export interface ListShape extends Ruled {
  readonly type: 'list'
  readonly of: Shape
  readonly maxItems?: number
  /**
   * Members that distinguish one item from another: several appliers may each own some of the list. Without them it
   * is one value, in its order. For the API server alone.
   */
  readonly keys?: readonly string[]
}

/** Keys are data. */
interface MapShape extends Ruled {
  readonly type: 'map'
  readonly of: Shape
  readonly maxEntries?: number
}

export interface ObjectShape extends Ruled {
  readonly type: 'object'
  readonly fields: Readonly<Record<string, Field>>
  /** One value for server-side apply: two appliers never mix their members in it. */
  readonly isAtomic?: boolean
}

/** Any map, kept as it is. */
export interface OpenShape extends Ruled {
  readonly type: 'open'
  readonly isAtomic?: boolean
  /** For the API server, its columns and selectors; what else validates the map validates these too. */
  readonly known?: Readonly<Record<string, Field>>
  /** Names of members that belong in it, for a hint when one is written a level too high. */
  readonly holds?: readonly string[]
}

/** What the API server checks a value by, in CEL. The guard below does not know it. */
interface Ruled {
  readonly rules?: readonly Rule[]
}

export interface Rule {
  /** With `oldSelf` it applies to changes only. */
  readonly rule: string
  readonly message: string
  /** Where the problem is, from the value: `.name`. */
  readonly fieldPath?: string
}

export interface Field {
  readonly shape: Shape
  readonly required?: boolean
  /** One sentence: `kubectl explain` shows it. */
  readonly description: string
  /** Written into the object by the API server where the member is absent. */
  readonly default?: Value
}

export const TEXT = { type: 'string' } satisfies Shape
export const TEXTS = { type: 'list', of: TEXT } satisfies Shape
export const KEY_REFERENCE = {
  type: 'object',
  fields: {
    name: { shape: TEXT, required: true, description: 'Name, in the same namespace.' },
    key: { shape: TEXT, required: true, description: 'Key in its data.' },
  },
  isAtomic: true,
} satisfies ObjectShape
export const SECRET_REFERENCE = {
  type: 'object',
  fields: {
    secretRef: { shape: KEY_REFERENCE, required: true, description: 'A key of a Secret.' },
  },
} satisfies ObjectShape

/**
 * Every problem of `value` by `shape`. A member of an object that is null counts as absent, as in Kubernetes.
 * @example checkShape(TEXT, 5, '/spec/uri') // [{code: 'invalid_datatype', path: '/spec/uri', …}]
 */
export const checkShape = (shape: Shape, value: unknown, path: string): readonly Problem[] => {
  const problems: Problem[] = []
  check(shape, value, path, problems)
  return problems
}

/**
 * `value` without the members of objects that are null, as an API server prunes them before it validates: what reads a
 * checked value need not know of null. Entries of maps and items of lists stay, for `checkShape` to reject: without an
 * entry, a selector would select more. The same object where there is nothing to leave out.
 * @example pruneNulls(SECRET_REFERENCE, { secretRef: null }) // {}
 */
export const pruneNulls = (shape: Shape, value: Value): Value => {
  if (shape.type === 'object' && isMap(value)) return pruneObject(shape, value)
  if (shape.type === 'secret' && isMap(value)) return pruneObject(SECRET_REFERENCE, value)
  if (shape.type === 'list' && isList(value)) {
    const items = value.map((item) => pruneNulls(shape.of, item))
    return items.every((item, i) => item === value[i]) ? value : items
  }
  if (shape.type === 'map' && isMap(value))
    return changedMembers(value, (_name, item) => pruneNulls(shape.of, item))
  return value
}

const pruneObject = ({ fields }: ObjectShape, value: ValueMap): ValueMap =>
  changedMembers(value, (name, member) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) return member
    return member === null ? undefined : pruneNulls(field.shape, member)
  })

/** @param change undefined: the member is left out */
const changedMembers = (
  value: ValueMap,
  change: (name: string, member: Value) => Value | undefined,
): ValueMap => {
  const changed: Record<string, Value> = {}
  let isSame = true
  for (const [name, member] of Object.entries(value)) {
    const next = change(name, member)
    if (next !== member) isSame = false
    if (next !== undefined) setOwn(changed, name, next)
  }
  return isSame ? value : changed
}

type Checkers = {
  readonly [Type in Shape['type']]: (
    shape: Extract<Shape, { type: Type }>,
    value: unknown,
    path: string,
    problems: Problem[],
  ) => void
}

const CHECKERS = {
  string: checkText,
  integer: checkInteger,
  boolean: (_shape, value, path, problems) => {
    if (typeof value !== 'boolean') problems.push(wrongType(path, 'true or false', value))
  },
  secret: (shape, value, path, problems) => {
    if (typeof value === 'string' && shape.inline) return
    if (typeof value === 'string') problems.push(inlineSecret(path))
    else check(SECRET_REFERENCE, value, path, problems)
  },
  list: (shape, value, path, problems) => {
    if (!isList(value)) problems.push(wrongType(path, 'a list', value))
    else if (value.length > (shape.maxItems ?? Infinity))
      problems.push(tooMany(path, shape.maxItems))
    else
      for (const [i, item] of value.entries())
        check(shape.of, item, childPointer(path, i), problems)
  },
  map: (shape, value, path, problems) => {
    if (!isMap(value)) problems.push(wrongType(path, 'a map', value))
    else if (Object.keys(value).length > (shape.maxEntries ?? Infinity))
      problems.push(tooMany(path, shape.maxEntries))
    else
      for (const [key, item] of Object.entries(value))
        check(shape.of, item, childPointer(path, key), problems)
  },
  object: checkObject,
  open: (_shape, value, path, problems) => {
    if (!isMap(value)) problems.push(wrongType(path, 'a map', value))
  },
} satisfies Checkers

function check(shape: Shape, value: unknown, path: string, problems: Problem[]): void {
  // The table is total over `type`, which the compiler checks above but can't carry through the index.
  const checker = CHECKERS[shape.type] as (
    shape: Shape,
    value: unknown,
    path: string,
    problems: Problem[],
  ) => void
  checker(shape, value, path, problems)
}

function checkText(
  shape: Extract<Shape, { type: 'string' }>,
  value: unknown,
  path: string,
  problems: Problem[],
): void {
  if (typeof value !== 'string') problems.push(wrongType(path, 'a text', value))
  else if (value === '' && shape.mayBeEmpty !== true) {
    problems.push({ code: 'invalid_value', path, message: `${path} is empty` })
  } else if (shape.oneOf && !shape.oneOf.includes(value)) {
    const message = `${path} is '${value}'; it may be ${shape.oneOf.join(', ')}`
    problems.push({ code: 'invalid_value', path, message })
  } else if (value.length > (shape.maxLength ?? Infinity)) {
    const message = `${path} is longer than ${String(shape.maxLength)} characters`
    problems.push({ code: 'invalid_value', path, message })
  }
}

function checkInteger(
  shape: Extract<Shape, { type: 'integer' }>,
  value: unknown,
  path: string,
  problems: Problem[],
): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    const hint = typeof value === 'string' ? unitHint(path.toLowerCase(), value) : ''
    const problem = wrongType(path, 'a whole number', value)
    problems.push({ ...problem, message: `${problem.message}${hint && `.${hint}`}` })
  } else if (value < (shape.minimum ?? -Infinity)) {
    const message = `${path} is ${value}; the least is ${String(shape.minimum)}`
    problems.push({ code: 'invalid_value', path, message })
  }
}

function checkObject(shape: ObjectShape, value: unknown, path: string, problems: Problem[]): void {
  if (!isMap(value)) {
    problems.push(wrongType(path, 'a map', value))
    return
  }
  for (const [name, field] of Object.entries(shape.fields)) {
    const member = memberAt(value, name)
    const pointer = childPointer(path, name)
    if (member !== undefined) check(field.shape, member, pointer, problems)
    else if (field.required) {
      problems.push({
        code: 'missing_required_value',
        path: pointer,
        message: `${pointer} is missing`,
      })
    }
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(shape.fields, name)) problems.push(unknownField(shape, path, name))
  }
}

const unknownField = (shape: ObjectShape, path: string, name: string): Problem => {
  const pointer = childPointer(path, name)
  const known = Object.keys(shape.fields)
  const near = nearestName(name, known) ?? known.find((each) => isBeginning(name, each))
  const holder = Object.entries(shape.fields).find(
    ([, field]) => field.shape.type === 'open' && field.shape.holds?.includes(name) === true,
  )?.[0]
  if (holder !== undefined)
    return {
      code: 'invalid_value',
      path: pointer,
      message: `${pointer} is not a known field: ${name} belongs under ${childPointer(path, holder)}`,
    }
  const hint = near === undefined ? '; known' : `; did you mean '${near}'? Known`
  return {
    code: 'invalid_value',
    path: pointer,
    message: `${pointer} is not a known field${hint} fields are ${known.join(', ')}`,
  }
}

/** `password` for `passwordHash`. */
const isBeginning = (name: string, known: string): boolean =>
  name.length > 2 && known.toLowerCase().startsWith(name.toLowerCase())

const tooMany = (path: string, most: number | undefined): Problem => ({
  code: 'invalid_value',
  path,
  message: `${path} has more than ${String(most)} entries`,
})

const inlineSecret = (path: string): Problem => ({
  code: 'invalid_datatype',
  path,
  message: `${path} must not stand here in clear: put it into a Secret and write {secretRef: {name, key}}`,
})

const wrongType = (path: string, wanted: string, value: unknown): Problem => ({
  code: 'invalid_datatype',
  path,
  message: `${path} must be ${wanted}, not ${describeType(value)}`,
})

const describeType = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (isList(value)) return 'a list'
  if (isMap(value)) return 'a map'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}
