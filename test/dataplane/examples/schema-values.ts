// Makes values that JSON Schemas of an OpenAPI description allow, and such that they refuse, as ajv says.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { ownValue } from '../../../language/expression/lookup.ts'
import { listAt, mapAt } from '../../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { resolveReference } from '../../../language/json-schema/reference.ts'

export type Random = () => number

export const pick = <T>(list: readonly T[], random: Random): T =>
  list[Math.floor(random() * list.length)] as T

export interface SchemaValues {
  readonly isValid: (schema: Value, value: Value) => boolean
  readonly valid: (schema: Value) => Value
  readonly invalid: (schema: Value) => Value
}

const TRIES = 50

export const schemaValues = (root: ValueMap, random: Random): SchemaValues => {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
  })
  ajv.addSchema(root, 'root')
  const compiled = new Map<string, (value: Value) => boolean>()
  const isValid = (schema: Value, value: Value): boolean => {
    const text = JSON.stringify(absolute(schema))
    let validate = compiled.get(text)
    if (validate === undefined) {
      const validator = ajv.compile(JSON.parse(text) as object)
      validate = (each) => validator(each)
      compiled.set(text, validate)
    }
    return validate(value)
  }
  const make = maker(root, random)
  const find = (schema: Value, next: () => Value, isWanted: boolean): Value => {
    for (let count = 0; count < TRIES; count++) {
      const value = next()
      if (isValid(schema, value) === isWanted) return value
    }
    throw new Error(`no value was found for ${JSON.stringify(schema)}`)
  }
  return {
    isValid,
    valid: (schema) => find(schema, () => make(schema, 0), true),
    invalid: (schema) => find(schema, () => broken(make(schema, 0), random), false),
  }
}

/** References that lead into the description. */
const absolute = (schema: Value): Value => {
  if (isList(schema)) return schema.map(absolute)
  if (!isMap(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === '$ref' && typeof value === 'string' ? `root${value}` : absolute(value),
    ]),
  )
}

const TEXTS = ['', 'a', 'abc', 'A-1', 'Z-907', '7', 'true', 'é😀', 'a@b.test', '2026-01-01']
const NUMBERS = [0, 1, 2, 7, -1, 0.5, 100, 1e6]

const maker = (root: ValueMap, random: Random) => {
  const make = (schema: Value, depth: number): Value => {
    if (!isMap(schema)) return pick<Value>(['a', 1, null], random)
    const reference = ownValue(schema, '$ref')
    if (typeof reference === 'string') return make(resolveReference(root, reference) ?? true, depth)
    const choices = [...listAt(schema, 'anyOf'), ...listAt(schema, 'oneOf')]
    if (choices.length > 0) return make(pick(choices, random), depth)
    if (Object.hasOwn(schema, 'const')) return schema['const'] ?? null
    const values = listAt(schema, 'enum')
    return values.length > 0 ? pick(values, random) : ofType(schema, depth)
  }
  const ofType = (schema: ValueMap, depth: number): Value => {
    const types = [ownValue(schema, 'type') ?? guessed(schema)].flat()
    const type = pick(types, random)
    switch (typeof type === 'string' ? type : '') {
      case 'object':
        return object(schema, depth)
      case 'array': {
        const length =
          Number(ownValue(schema, 'minItems') ?? 0) + (depth < 3 ? Math.floor(random() * 3) : 0)
        return Array.from({ length }, () => make(ownValue(schema, 'items') ?? true, depth + 1))
      }
      case 'integer':
        return Math.trunc(number(schema))
      case 'number':
        return number(schema)
      case 'boolean':
        return random() < 0.5
      case 'null':
        return null
      default:
        return pick(TEXTS, random)
    }
  }
  const number = (schema: ValueMap): number => {
    const least = Number(ownValue(schema, 'minimum') ?? ownValue(schema, 'exclusiveMinimum') ?? 0)
    return random() < 0.5 ? least + Math.floor(random() * 3) : pick(NUMBERS, random)
  }
  const object = (schema: ValueMap, depth: number): ValueMap => {
    const required = listAt(schema, 'required')
    const properties = Object.entries(mapAt(schema, 'properties'))
    return Object.fromEntries(
      properties
        .filter(([name]) => required.includes(name) || (depth < 3 && random() < 0.5))
        .map(([name, each]) => [name, make(each, depth + 1)]),
    )
  }
  return make
}

const guessed = (schema: ValueMap): string =>
  Object.hasOwn(schema, 'properties')
    ? 'object'
    : Object.hasOwn(schema, 'items')
      ? 'array'
      : 'string'

/** Another value in one place, or one member more or less. */
const broken = (value: Value, random: Random): Value => {
  if (isMap(value) && random() < 0.8) return brokenMap(value, random)
  if (isList(value) && random() < 0.5) return [...value, broken(value[0] ?? null, random)]
  return pick<Value>([null, true, -1, 0.5, 1e9, '', 'no', 'x'.repeat(300), [], {}, [null]], random)
}

const brokenMap = (value: ValueMap, random: Random): ValueMap => {
  const name = pick([...Object.keys(value), 'unknown'], random)
  const { [name]: member = null, ...rest } = value
  return random() < 0.3 ? rest : { ...rest, [name]: broken(member, random) }
}
