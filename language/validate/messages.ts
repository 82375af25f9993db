// Describes an error of the schema for people: what was expected and what is there, cut to a bounded length. Shows no
// value where that may be a secret.

import { nearestName } from '../../base/nearest-name.ts'
import { METHODS } from '../document.ts'
import { isMap } from '../expression/value.ts'
import { DOCUMENT_SCHEMA } from './document-schema.ts'
import { unquotedExpression, unquotedWords } from './misread-values.ts'
import { hintFor, misspelling } from './name-hints.ts'
import { unitHint } from './unit-hints.ts'

/** A complaint about one keyword of a schema, as ajv gives it with `verbose`. */
export interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly schemaPath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly parentSchema?: Readonly<Record<string, unknown>>
  readonly data?: unknown
}

/** Where the validated value stands, and whether messages may show values. */
export interface Place {
  readonly pointer: string
  /** `hidden` where a value may be a secret: messages name its type only. */
  readonly values: 'shown' | 'hidden'
  /** Stands for texts that are not known: nothing is said of them. */
  readonly standIn?: string
}

type Schema = Readonly<Record<string, unknown>>

const MAX_SHOWN = 60

/** The schemas have one place where nothing is valid: a path without a method. */
const NO_METHOD = `A path needs at least one method: ${METHODS.join(', ')}.`

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

/** Keywords that bound a size or a range, as the end of "Expected …". */
const BOUNDS: Readonly<Record<string, (limit: string) => string>> = {
  minimum: (limit) => `at least ${limit}`,
  maximum: (limit) => `at most ${limit}`,
  minLength: () => 'a text that is not empty',
  maxLength: (limit) => `a text of at most ${limit} characters`,
  minItems: (limit) => `a list of at least ${countOf(Number(limit), 'item')}`,
  maxItems: (limit) => `a list of at most ${countOf(Number(limit), 'item')}`,
  minProperties: (limit) => `a map of at least ${countOf(Number(limit), 'key')}`,
  maxProperties: (limit) => `a map of at most ${countOf(Number(limit), 'key')}`,
}

/** @example countOf(1, 'key') // '1 key' */
const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/**
 * One sentence: what was expected, and what is there.
 * @example 'Expected a whole number or an expression, got "soon".'
 */
export const describeError = (error: SchemaError, values: Place['values']): string => {
  const { keyword, params, parentSchema = {} } = error
  if (keyword === 'required')
    return describeMissing(String(params['missingProperty']), error.data, parentSchema)
  if (keyword === 'additionalProperties')
    return describeUnknown(String(params['additionalProperty']), parentSchema)
  if (keyword === 'false schema') return describeNoMethod(error.data)
  if (keyword === 'format' && params['format'] === 'plain-text') return describeEnds(error.data)
  const expected = expectation(error, parentSchema)
  const found = shown(error.data, values)
  if (values === 'hidden' && expected?.startsWith(ONE_OF) === true)
    return `Expected ${expected}: this is none of them.`
  return expected === undefined
    ? `${values === 'shown' ? capitalise(found) : 'This text'} does not fit here${descriptionOf(parentSchema)}`
    : `Expected ${expected}, got ${found}.${valueHint(error, values)}`
}

/** Says nothing of what stands between the ends: it may be a secret. */
const describeEnds = (text: unknown): string => {
  const isBroken = typeof text === 'string' && /[\r\n]\s*$/.test(text)
  const question = isBroken
    ? 'is there a line break at its end, as echo adds one?'
    : 'is there a blank, a tab or a byte order mark?'
  return `Expected one line without control characters, and without blanks at its ends: ${question}`
}

const describeNoMethod = (path: unknown): string => {
  const others = Object.keys(isMap(path) ? path : {}).filter((name) => !isKnownInPaths(name))
  const hints = METHODS.map((method) => misspelling(method, others))
  return `${NO_METHOD}${hints.find((hint) => hint !== '') ?? ''}`
}

const isKnownInPaths = (name: string): boolean =>
  Object.hasOwn(DOCUMENT_SCHEMA.$defs['path']?.properties ?? {}, name)

const describeMissing = (name: string, found: unknown, schema: Schema): string => {
  const properties = isMap(schema['properties']) ? schema['properties'] : {}
  const property = Object.hasOwn(properties, name) ? properties[name] : {}
  const others = Object.keys(isMap(found) ? found : {}).filter(
    (other) => !Object.hasOwn(properties, other),
  )
  const schemaOf = isMap(property) ? property : {}
  const choices = choicesOf(schemaOf) ?? choicesOf(referencedBy(schemaOf))
  const description = `${choices === undefined ? '' : `, one of ${choices.join(', ')}`}${descriptionOf(schemaOf)}`
  return `'${name}' is required here${description}${misspelling(name, others)}`
}

const referencedBy = ({ $ref }: Schema): Schema => {
  const definitions: Readonly<Record<string, object>> = DOCUMENT_SCHEMA.$defs
  const name = typeof $ref === 'string' ? $ref.slice('#/$defs/'.length) : ''
  return Object.hasOwn(definitions, name) ? { ...definitions[name] } : {}
}

const descriptionOf = ({ description }: Schema): string =>
  typeof description === 'string' ? `: ${description}` : '.'

const describeUnknown = (name: string, schema: Schema): string => {
  const known = Object.keys(schema['properties'] ?? {})
  const hint = capitalise(hintFor(name, known).replace(/^; /, '')).replace(/[^.?]$/, '$&.')
  return `There is no property '${cut(name)}' here.${hint === '' ? '' : ` ${hint}`} There are ${known.join(', ')}.`
}

/** undefined: the schema has only a pattern or a format, which its description explains better. */
const expectation = ({ keyword, params }: SchemaError, schema: Schema): string | undefined => {
  const bound = BOUNDS[keyword]
  if (bound !== undefined) return bound(String(params['limit']))
  if (keyword === 'type') return typesOf(schema)
  if (keyword === 'pattern') return Array.isArray(schema['type']) ? typesOf(schema) : undefined
  const choices = choicesOf(schema)
  return choices === undefined ? undefined : `${ONE_OF}${choices.join(', ')}${otherChoice(schema)}`
}

/** What else would do beside the listed texts and an expression. */
const otherChoice = ({ anyOf }: Schema): string => {
  const texts = listOf(anyOf).map((branch) => (isMap(branch) ? branch['description'] : undefined))
  const other = texts.find((text) => typeof text === 'string')
  return other === undefined ? '' : ` or ${other}`
}

const ONE_OF = 'one of '

const choicesOf = (schema: Schema): readonly unknown[] | undefined => {
  if (Object.hasOwn(schema, 'enum')) return listOf(schema['enum'])
  const choice = listOf(schema['anyOf'])
    .filter(isMap)
    .find((branch) => Object.hasOwn(branch, 'enum'))
  return choice === undefined ? undefined : listOf(choice['enum'])
}

/** What would do in place of the value that is there. */
const valueHint = (
  { data, instancePath, keyword, params, parentSchema = {} }: SchemaError,
  values: Place['values'],
): string => {
  const expression = unquotedExpression(data)
  if (expression !== undefined) return ` ${capitalise(unquotedWords(expression))}.`
  if (data === null)
    return ' Give it a value, or leave the key out: nothing behind a colon is null in YAML.'
  if (typeof data !== 'string' || values === 'hidden') return ''
  return keyword === 'type' && params['type'] === 'object' && data.includes('{{')
    ? ' An expression may stand in place of its members, not of all of it.'
    : textHint(data, instancePath, parentSchema)
}

/** What somebody meant who wrote this text. */
const textHint = (data: string, instancePath: string, parentSchema: Schema): string => {
  const [holder = '', key = ''] = instancePath.split('/').slice(-2)
  const form = formHint(data, holder, key)
  if (form !== undefined) return form
  if (typesIn(parentSchema).includes('array'))
    return ` Write it as a list: ${JSON.stringify([cut(data)])}.`
  if (typesIn(parentSchema).includes('integer') && /^\d{1,15}$/.test(data))
    return ` Write ${data} without quotes.`
  const near = nearestChoice(data, (choicesOf(parentSchema) ?? []).map(String))
  if (near !== undefined) return ` Did you mean "${near}"?`
  const wish = key === 'type' ? hintFor(data, []).replace(/^; /, '') : ''
  return wish === '' ? unitHint(key, data) : ` ${capitalise(wish)}.`
}

/** The map that an entry such as `security: basic` stands for, or a number without its sign. */
const formHint = (data: string, holder: string, key: string): string | undefined => {
  if ((key === 'action' || key === 'security') && /^\w+$/.test(data))
    return ` Write it as a map: {type: ${cut(data)}}.`
  if (holder === 'hosts') return ` Write it as a map: {host: ${cut(data)}}.`
  return /^\d{1,9}%$/.test(data)
    ? ` Write ${data.slice(0, -1)}, without the percent sign.`
    : undefined
}

const nearestChoice = (text: string, choices: readonly string[]): string | undefined =>
  nearestName(text, choices) ?? choices.find((choice) => choice.endsWith(`/${text.toLowerCase()}`))

const typesIn = ({ type }: Schema): readonly unknown[] => (Array.isArray(type) ? type : [type])

const typesOf = ({ type, pattern }: Schema): string => {
  if (!Array.isArray(type)) return typeName(type)
  // A text beside other types is an expression, or a number written as text.
  const names = type.filter((name) => name !== 'string' || pattern === undefined).map(typeName)
  if (typeof pattern === 'string' && pattern.startsWith('^'))
    names.push('a numeric text such as "404"')
  if (pattern !== undefined) names.push('an expression')
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].join(' or ')
}

const typeName = (name: unknown): string => TYPE_NAMES[String(name)] ?? String(name)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const shown = (value: unknown, values: Place['values']): string => {
  if (Array.isArray(value)) return `a list of ${countOf(value.length, 'item')}`
  if (isMap(value)) return `a map of ${countOf(Object.keys(value).length, 'key')}`
  if (value === null) return 'null'
  const isShown = values === 'shown'
  if (typeof value === 'string') return isShown ? JSON.stringify(cut(value)) : 'a text'
  if (isShown && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  return typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`
}

const cut = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
