// Compiles a JSON Schema that was checked to closures that validate values, each within a bound of cost. It generates no
// code, and never fails.

import { isList, isMap, type Value } from '../expression/value.ts'
import {
  type Compile,
  type CompiledSchema,
  evaluate,
  FALSE,
  type SchemaSource,
  TRUE,
} from './compiled-schema.ts'
import { INNER_CHECKS } from './inner-checks.ts'
import { type Keyword, KEYWORDS } from './keywords.ts'
import { compilePattern, type LinearPattern } from './linear-pattern.ts'
import { type SchemaError, ValidationRun } from './validation-run.ts'
import { VALUE_CHECKS } from './value-checks.ts'

/** `too_expensive`: checking would take more than a validation may. At most 100 errors; none: the value is valid. */
export type Validate = (
  value: Value,
  run?: ValidationRun,
) => readonly SchemaError[] | 'too_expensive'

/**
 * @param schema has passed `checkSchema`
 * @example compileValidator({ type: 'object', required: ['sku'] })({}) // [{ pointer: '', keyword: 'required', property: 'sku' }]
 */
export const compileValidator = (schema: Value): Validate => {
  const root = new SchemaCompiler(schema).schema(schema)
  return (value, run = new ValidationRun()) => {
    const isValid = evaluate(root, value, run, undefined)
    if (run.isOver) return 'too_expensive'
    return isValid || run.errors.length > 0 ? run.errors : [{ pointer: '', keyword: 'false' }]
  }
}

class SchemaCompiler implements SchemaSource {
  readonly root: Value
  readonly #known = new Map<Value, CompiledSchema>()

  constructor(root: Value) {
    this.root = root
  }

  schema(schema: Value): CompiledSchema {
    if (!isMap(schema)) return schema === false ? FALSE : TRUE
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const compiled: CompiledSchema = {
      checks: [],
      asksEvaluated:
        Object.hasOwn(schema, 'unevaluatedProperties') || Object.hasOwn(schema, 'unevaluatedItems'),
      isFalse: false,
    }
    this.#known.set(schema, compiled)
    const names = (Object.keys(KEYWORDS) as Keyword[]).filter((name) => Object.hasOwn(schema, name))
    compiled.checks = names.flatMap(
      (name) => CHECKS[name](schema[name] ?? null, this, schema) ?? [],
    )
    return compiled
  }

  list(value: Value): readonly CompiledSchema[] {
    return isList(value) ? value.map((each) => this.schema(each)) : []
  }

  byName(value: Value | undefined): readonly (readonly [string, CompiledSchema])[] {
    return Object.entries(isMap(value) ? value : {}).map(([name, each]) => [
      name,
      this.schema(each),
    ])
  }

  byPattern(value: Value | undefined): readonly (readonly [LinearPattern, CompiledSchema])[] {
    return this.byName(value).flatMap(([source, schema]) => {
      const pattern = compilePattern(source)
      return typeof pattern === 'string' ? [] : [[pattern, schema] as const]
    })
  }
}

const CHECKS: Readonly<Record<Keyword, Compile>> = { ...VALUE_CHECKS, ...INNER_CHECKS }
