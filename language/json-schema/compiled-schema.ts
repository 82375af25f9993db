// Validates a value by a compiled schema: its checks in order, within what a validation may cost.

import type { Value, ValueMap } from '../expression/value.ts'
import { Evaluated } from './evaluated.ts'
import type { Keyword } from './keywords.ts'
import type { LinearPattern } from './linear-pattern.ts'
import type { ValidationRun } from './validation-run.ts'

export type Check = (value: Value, run: ValidationRun, seen: Evaluated | undefined) => boolean

/** A compiled schema. Those that refer to it have it before its checks are there. */
export interface CompiledSchema {
  checks: readonly Check[]
  /** It asks what the schemas within it have looked at. */
  readonly asksEvaluated: boolean
  readonly isFalse: boolean
}

export const evaluate = (
  { checks, asksEvaluated }: CompiledSchema,
  value: Value,
  run: ValidationRun,
  outer: Evaluated | undefined,
): boolean => {
  const seen = asksEvaluated ? new Evaluated() : outer
  let isValid = run.enter()
  if (isValid)
    for (const check of checks) {
      if (check(value, run, seen)) continue
      isValid = false
      if (run.isDecided) break
    }
  run.leave()
  if (asksEvaluated && isValid && outer !== undefined && seen !== undefined) outer.add(seen)
  return isValid
}

/** Whether the value is valid, without reporting why not. What is not valid has looked at nothing. */
export const matches = (
  schema: CompiledSchema,
  value: Value,
  run: ValidationRun,
  outer: Evaluated | undefined,
): boolean => {
  const seen = outer && new Evaluated()
  run.quiet += 1
  const isValid = evaluate(schema, value, run, seen)
  run.quiet -= 1
  if (isValid && seen !== undefined && run.spend(seen.size)) outer?.add(seen)
  return isValid
}

/** Which member or item of a value, and the keyword that has a schema for it. */
interface ChildPlace {
  readonly keyword: Keyword
  readonly key: string | number
}

export const evaluateChild = (
  { keyword, key }: ChildPlace,
  schema: CompiledSchema,
  value: Value,
  run: ValidationRun,
): boolean => {
  if (schema.isFalse) return run.report(keyword, String(key))
  run.path.push(key)
  const isValid = evaluate(schema, value, run, undefined)
  run.path.pop()
  return isValid
}

const reportFalse: Check = (_value, run) => run.report('false')

export const FALSE: CompiledSchema = {
  checks: [reportFalse],
  asksEvaluated: false,
  isFalse: true,
}
export const TRUE: CompiledSchema = { checks: [], asksEvaluated: false, isFalse: false }

/** Compiles the schemas within a schema, each once. */
export interface SchemaSource {
  readonly root: Value
  schema(schema: Value): CompiledSchema
  list(value: Value): readonly CompiledSchema[]
  byName(value: Value | undefined): readonly (readonly [string, CompiledSchema])[]
  byPattern(value: Value | undefined): readonly (readonly [LinearPattern, CompiledSchema])[]
}

/** undefined: nothing to check. */
export type Compile = (keyword: Value, source: SchemaSource, schema: ValueMap) => Check | undefined

/** Whether it holds for all, which are all looked at as long as errors are collected. */
export const all = <T>(
  items: Iterable<T>,
  run: ValidationRun,
  holds: (item: T, index: number) => boolean,
): boolean => {
  let isValid = true
  let index = 0
  for (const item of items) {
    if (!run.spend(1)) return false
    if (!holds(item, index++)) {
      isValid = false
      if (run.isDecided) break
    }
  }
  return isValid
}
