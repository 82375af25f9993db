// Renders the tables of the reference from the schema of documents and the CRD of Realms, into the pages that have a
// place for each.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { DOCUMENT_SCHEMA } from '../../language/validate/document-schema.ts'

const ROOT = join(import.meta.dirname, '../..')

interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: string
  readonly $ref?: string
  readonly description?: string
  readonly default?: unknown
  readonly pattern?: string
  readonly readOnly?: boolean
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | false
  readonly $defs?: Readonly<Record<string, Schema>>
}

const documents: Schema = DOCUMENT_SCHEMA
const definition = parse(readFileSync(join(ROOT, 'crds/realms.yaml'), 'utf8')) as {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}
const { spec: realmSpec = {} } =
  definition.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {}

/** The object within a list or a map. */
const inner = (schema: Schema): Schema =>
  schema.items ??
  (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : schema)

const objectsBelow = (path: string, schema: Schema): readonly (readonly [string, Schema])[] => {
  const { properties } = inner(schema)
  if (properties === undefined) return []
  const members = Object.entries(properties)
  return [
    [path, inner(schema)],
    ...members.flatMap(([name, member]) => objectsBelow(`${path}.${name}`, member)),
  ]
}

/**
 * The same as another one: `options` may leave out its action, a reference to a Secret is one wherever it stands, and so
 * are namespaces. Or only the choice among others, by `type`.
 */
const isRepeated = (name: string): boolean =>
  ['optionsOperation', 'action', 'securityScheme'].includes(name) ||
  name.startsWith('spec.credentials.allowedNamespaces') ||
  /\.(?:secret|clientSecret|callbackSecret|token|password|privateKey|certificate\.certificate)(?:\.secretRef)?$/.test(
    name,
  )

/** Objects with keys: those of documents by their name in the schema, those of Realms by their path. */
export const OBJECTS: ReadonlyMap<string, Schema> = new Map(
  [
    ['api', documents] as const,
    ...Object.entries(documents.$defs ?? {}).filter(([, { properties }]) => properties),
    ...objectsBelow('spec', realmSpec),
  ].filter(([name]) => !isRepeated(name)),
)

/** Keys for which an example is expected: not those of the service, and not other spellings. */
export const keysOf = (name: string): readonly string[] =>
  Object.entries(OBJECTS.get(name)?.properties ?? {}).flatMap(
    ([key, { readOnly, description = '' }]) =>
      readOnly === true || /^Another (?:name|spelling)/.test(description) ? [] : [key],
  )

const MARK = /^<!-- keys: (?<names>[^\n]+) -->\n[^]*?^<!-- end -->$/gm

/** Objects that a page has a place for. */
export const objectsOn = (page: string): readonly string[] =>
  [...page.matchAll(MARK)].flatMap(({ groups }) => groups?.['names']?.split(', ') ?? [])

/** The page with the tables of today. */
export const renderTables = (page: string): string =>
  page.replaceAll(MARK, (_whole, names: string) => {
    // What two kinds have in common stands there once.
    const rows = new Set(names.split(', ').flatMap(rowsOf))
    const table = ['| key | value | |', '|---|---|---|', ...rows].join('\n')
    return `<!-- keys: ${names} -->\n${table}\n<!-- end -->`
  })

const rowsOf = (name: string): readonly string[] => {
  const { properties = {}, required = [] } = OBJECTS.get(name) ?? {}
  return Object.entries(properties).map(([key, schema]) => {
    const { description = '' } = schema
    const notes = [
      description,
      required.includes(key) ? '**Required.**' : '',
      schema.default === undefined ? '' : `Default \`${JSON.stringify(schema.default)}\`.`,
    ]
    return `| \`${key}\` | ${valueOf(schema)} | ${cell(notes.filter(Boolean).join(' '))} |`
  })
}

/** What stands for a tag would be one of Markdown's tables, too. */
const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll(/\{\{[^}]*\}\}|<[^>]+>/g, (code) => `\`${code}\``)

const NAMES: Readonly<Record<string, string>> = {
  array: 'list',
  boolean: '`true`, `false`',
  integer: 'whole number',
  number: 'number',
  object: 'map',
  string: 'text',
}

const resolved = (schema: Schema): Schema => {
  const name = schema.$ref?.replace('#/$defs/', '')
  return name === undefined ? schema : { ...documents.$defs?.[name], ...schema }
}

const valueOf = (schema: Schema): string => {
  const { type, const: only, enum: words, anyOf = [], pattern = '' } = resolved(schema)
  if (only !== undefined) return `\`${only}\``
  const choices = words ?? anyOf.flatMap((each) => each.enum ?? [])
  const isExpression = [pattern, ...anyOf.map((each) => each.pattern ?? '')].some((each) =>
    each.includes('\\{\\{'),
  )
  const types = [type ?? 'any value']
    .flat()
    .filter((each) => each !== 'string' || !isExpression || type === 'string')
  const names =
    choices.length > 0
      ? choices.map((word) => `\`${String(word)}\``)
      : types.map((each) => NAMES[each] ?? each)
  return [...names, ...(isExpression ? ['*expr*'] : [])].join(', ')
}
