// Compiles the keywords that look at a value themselves, without schemas within.

import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import { canonicalText } from './canonical-text.ts'
import { all, type Compile } from './compiled-schema.ts'
import { FORMATS } from './formats.ts'
import type { Keyword } from './keywords.ts'
import { compilePattern } from './linear-pattern.ts'
import type { ValidationRun } from './validation-run.ts'

const compare =
  (name: Keyword, isValid: (value: number, bound: number) => boolean): Compile =>
  (bound) =>
  (value, run) =>
    typeof value !== 'number' || isValid(value, bound as number) || run.report(name)

const bounded =
  (
    name: Keyword,
    sizeOf: (value: Value, run: ValidationRun) => number | undefined,
    isValid: (size: number, bound: number) => boolean,
  ): Compile =>
  (bound) =>
  (value, run) => {
    const size = sizeOf(value, run)
    return size === undefined || isValid(size, bound as number) || run.report(name)
  }

const atMost = (size: number, bound: number): boolean => size <= bound
const atLeast = (size: number, bound: number): boolean => size >= bound

/** Code points. */
const lengthOf = (value: Value, run: ValidationRun): number | undefined => {
  if (typeof value !== 'string') return undefined
  run.spend(1 + (value.length >> 3))
  let length = 0
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- counts code points without a copy
  for (const _ of value) length++
  return length
}
const itemsOf = (value: Value): number | undefined => (isList(value) ? value.length : undefined)
const membersOf = (value: Value, run: ValidationRun): number | undefined => {
  if (!isMap(value)) return undefined
  const { length } = Object.keys(value)
  run.spend(length >> 3)
  return length
}

const TYPE_TESTS: ReadonlyMap<Value, (value: Value) => boolean> = new Map<
  Value,
  (value: Value) => boolean
>([
  ['null', (value) => value === null],
  ['boolean', (value) => typeof value === 'boolean'],
  ['integer', Number.isInteger],
  ['number', (value) => typeof value === 'number'],
  ['string', (value) => typeof value === 'string'],
  ['array', isList],
  ['object', isMap],
])

const compileType: Compile = (types) => {
  const tests = (isList(types) ? types : [types]).flatMap((type) => TYPE_TESTS.get(type) ?? [])
  const [only] = tests
  if (tests.length === 1 && only !== undefined)
    return (value, run) => only(value) || run.report('type')
  return (value, run) => tests.some((test) => test(value)) || run.report('type')
}

const compileValues =
  (name: 'enum' | 'const'): Compile =>
  (values) => {
    const texts = new Set(
      (name === 'enum' && isList(values) ? values : [values]).map((each) => canonicalText(each)),
    )
    return (value, run) => texts.has(canonicalText(value, run.spend)) || run.report(name)
  }

const compileTextPattern: Compile = (source) => {
  const pattern = compilePattern(source as string)
  if (typeof pattern === 'string') return undefined
  return (value, run) =>
    typeof value !== 'string' || pattern.matches(value, run.spend) || run.report('pattern')
}

/** The cost of some expressions of V8, measured. */
const COST_OF_FORMAT = 4

const compileFormat: Compile = (name) => {
  const test = FORMATS[name as string]
  if (test === undefined) return undefined
  return (value, run) =>
    typeof value !== 'string' ||
    (run.spend(COST_OF_FORMAT + (value.length >> 2)) && test(value)) ||
    run.report('format')
}

/** A text in a set, measured. */
const COST_OF_COMPARING = 4

const compileUnique: Compile = (isUnique) => {
  if (isUnique !== true) return undefined
  return (value, run) => {
    if (!isList(value)) return true
    const texts = new Set<string>()
    for (const each of value) {
      if (!run.spend(COST_OF_COMPARING)) return false
      texts.add(canonicalText(each, run.spend))
    }
    return texts.size === value.length || run.report('uniqueItems')
  }
}

const requireAll = (
  keyword: Keyword,
  names: readonly string[],
  value: ValueMap,
  run: ValidationRun,
): boolean => {
  let isValid = run.spend(names.length >> 2)
  for (const name of names)
    if (!Object.hasOwn(value, name)) {
      isValid = run.report(keyword, name)
      if (run.isDecided) break
    }
  return isValid
}

const compileRequired: Compile = (names) => (value, run) =>
  !isMap(value) || requireAll('required', names as readonly string[], value, run)

const compileDependentRequired: Compile = (byName) => {
  const entries = Object.entries(byName as Readonly<Record<string, readonly string[]>>)
  return (value, run) =>
    !isMap(value) ||
    all(
      entries,
      run,
      ([name, names]) =>
        !Object.hasOwn(value, name) || requireAll('dependentRequired', names, value, run),
    )
}

export const VALUE_CHECKS = {
  type: compileType,
  enum: compileValues('enum'),
  const: compileValues('const'),
  multipleOf: compare('multipleOf', (value, divisor) => Number.isInteger(value / divisor)),
  maximum: compare('maximum', atMost),
  exclusiveMaximum: compare('exclusiveMaximum', (value, bound) => value < bound),
  minimum: compare('minimum', atLeast),
  exclusiveMinimum: compare('exclusiveMinimum', (value, bound) => value > bound),
  maxLength: bounded('maxLength', lengthOf, atMost),
  minLength: bounded('minLength', lengthOf, atLeast),
  pattern: compileTextPattern,
  format: compileFormat,
  maxItems: bounded('maxItems', itemsOf, atMost),
  minItems: bounded('minItems', itemsOf, atLeast),
  uniqueItems: compileUnique,
  maxProperties: bounded('maxProperties', membersOf, atMost),
  minProperties: bounded('minProperties', membersOf, atLeast),
  required: compileRequired,
  dependentRequired: compileDependentRequired,
} as const satisfies Readonly<Partial<Record<Keyword, Compile>>>
