// Compiles the keywords that have schemas within, for the same value or for its members and items.

import { ownValue } from '../expression/lookup.ts'
import { isList, isMap, type ValueMap } from '../expression/value.ts'
import { all, type Compile, evaluate, evaluateChild, matches } from './compiled-schema.ts'
import type { Keyword } from './keywords.ts'
import { resolveReference } from './reference.ts'
import type { ValidationRun } from './validation-run.ts'

/** Listing the names of a large map takes longer than looking at them. */
const namesOf = (map: ValueMap, run: ValidationRun): readonly string[] => {
  const names = Object.keys(map)
  return run.spend(2 * names.length) ? names : []
}

const compileReference: Compile = (reference, source) => {
  const target = resolveReference(source.root, reference as string)
  if (target === undefined) return undefined
  const schema = source.schema(target)
  return (value, run, seen) => evaluate(schema, value, run, seen)
}

const compileAllOf: Compile = (list, source) => {
  const schemas = source.list(list)
  return (value, run, seen) => all(schemas, run, (schema) => evaluate(schema, value, run, seen))
}

const compileAnyOf: Compile = (list, source) => {
  const schemas = source.list(list)
  return (value, run, seen) => {
    let isValid = false
    for (const schema of schemas) {
      if (matches(schema, value, run, seen)) isValid = true
      if (isValid && seen === undefined) break
    }
    return isValid || run.report('anyOf')
  }
}

const compileOneOf: Compile = (list, source) => {
  const schemas = source.list(list)
  return (value, run, seen) => {
    let valid = 0
    for (const schema of schemas) {
      if (matches(schema, value, run, seen)) valid++
      if (valid > 1) break
    }
    return valid === 1 || run.report('oneOf')
  }
}

const compileNot: Compile = (inner, source) => {
  const schema = source.schema(inner)
  return (value, run) => !matches(schema, value, run, undefined) || run.report('not')
}

const compileIf: Compile = (inner, source, schema) => {
  const condition = source.schema(inner)
  const then = source.schema(ownValue(schema, 'then') ?? true)
  const otherwise = source.schema(ownValue(schema, 'else') ?? true)
  return (value, run, seen) =>
    evaluate(matches(condition, value, run, seen) ? then : otherwise, value, run, seen)
}

const compileDependentSchemas: Compile = (byName, source) => {
  const entries = source.byName(byName)
  return (value, run, seen) =>
    !isMap(value) ||
    all(
      entries,
      run,
      ([name, schema]) => !Object.hasOwn(value, name) || evaluate(schema, value, run, seen),
    )
}

const compilePropertyNames: Compile = (inner, source) => {
  const schema = source.schema(inner)
  return (value, run) =>
    !isMap(value) ||
    all(
      namesOf(value, run),
      run,
      (name) => matches(schema, name, run, undefined) || run.report('propertyNames', name),
    )
}

const compileProperties: Compile = (byName, source) => {
  const entries = source.byName(byName)
  return (value, run, seen) =>
    !isMap(value) ||
    all(entries, run, ([name, schema]) => {
      if (!Object.hasOwn(value, name)) return true
      seen?.names.add(name)
      return evaluateChild({ keyword: 'properties', key: name }, schema, value[name] ?? null, run)
    })
}

const compilePatternProperties: Compile = (byPattern, source) => {
  const entries = source.byPattern(byPattern)
  return (value, run, seen) =>
    !isMap(value) ||
    all(namesOf(value, run), run, (name) =>
      all(entries, run, ([pattern, schema]) => {
        if (!pattern.matches(name, run.spend)) return true
        seen?.names.add(name)
        return evaluateChild(
          { keyword: 'patternProperties', key: name },
          schema,
          value[name] ?? null,
          run,
        )
      }),
    )
}

const compileAdditionalProperties: Compile = (inner, source, siblings) => {
  const schema = source.schema(inner)
  const names = new Set(source.byName(ownValue(siblings, 'properties')).map(([name]) => name))
  const patterns = source.byPattern(ownValue(siblings, 'patternProperties'))
  return (value, run, seen) =>
    !isMap(value) ||
    all(namesOf(value, run), run, (name) => {
      if (names.has(name)) return true
      if (patterns.some(([pattern]) => pattern.matches(name, run.spend))) return true
      seen?.names.add(name)
      return evaluateChild(
        { keyword: 'additionalProperties', key: name },
        schema,
        value[name] ?? null,
        run,
      )
    })
}

const compilePrefixItems: Compile = (list, source) => {
  const schemas = source.list(list)
  return (value, run, seen) => {
    if (!isList(value)) return true
    if (seen !== undefined)
      seen.items = Math.max(seen.items, Math.min(schemas.length, value.length))
    return all(schemas.slice(0, value.length), run, (schema, index) =>
      evaluateChild({ keyword: 'prefixItems', key: index }, schema, value[index] ?? null, run),
    )
  }
}

const compileItems: Compile = (inner, source, siblings) => {
  const schema = source.schema(inner)
  const prefix = source.list(ownValue(siblings, 'prefixItems') ?? null).length
  return (value, run, seen) => {
    if (!isList(value)) return true
    if (seen !== undefined) seen.items = value.length
    return all(
      value,
      run,
      (item, index) =>
        index < prefix || evaluateChild({ keyword: 'items', key: index }, schema, item, run),
    )
  }
}

const compileContains: Compile = (inner, source, siblings) => {
  const schema = source.schema(inner)
  const least = (ownValue(siblings, 'minContains') ?? 1) as number
  const most = (ownValue(siblings, 'maxContains') ?? Infinity) as number
  return (value, run, seen) => {
    if (!isList(value)) return true
    let found = 0
    for (const [index, item] of value.entries()) {
      if (run.isOver) return false
      if (!matches(schema, item, run, undefined)) continue
      found++
      seen?.indices.add(index)
    }
    if (found < least)
      return run.report(Object.hasOwn(siblings, 'minContains') ? 'minContains' : 'contains')
    return found <= most || run.report('maxContains')
  }
}

const compileUnevaluatedProperties: Compile = (inner, source) => {
  const schema = source.schema(inner)
  return (value, run, seen) => {
    if (!isMap(value) || seen === undefined || seen.hasAllNames) return true
    const isValid = all(
      namesOf(value, run),
      run,
      (name) =>
        seen.names.has(name) ||
        evaluateChild(
          { keyword: 'unevaluatedProperties', key: name },
          schema,
          value[name] ?? null,
          run,
        ),
    )
    seen.hasAllNames = true
    return isValid
  }
}

const compileUnevaluatedItems: Compile = (inner, source) => {
  const schema = source.schema(inner)
  return (value, run, seen) => {
    if (!isList(value) || seen === undefined) return true
    const isValid = all(
      value,
      run,
      (item, index) =>
        index < seen.items ||
        seen.indices.has(index) ||
        evaluateChild({ keyword: 'unevaluatedItems', key: index }, schema, item, run),
    )
    seen.items = value.length
    return isValid
  }
}

export const INNER_CHECKS = {
  $ref: compileReference,
  allOf: compileAllOf,
  anyOf: compileAnyOf,
  oneOf: compileOneOf,
  not: compileNot,
  if: compileIf,
  dependentSchemas: compileDependentSchemas,
  propertyNames: compilePropertyNames,
  properties: compileProperties,
  patternProperties: compilePatternProperties,
  additionalProperties: compileAdditionalProperties,
  prefixItems: compilePrefixItems,
  items: compileItems,
  contains: compileContains,
  unevaluatedProperties: compileUnevaluatedProperties,
  unevaluatedItems: compileUnevaluatedItems,
} as const satisfies Readonly<Partial<Record<Keyword, Compile>>>
