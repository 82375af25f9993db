// Defines the notation in which documents are described: JSON Schema as TypeScript literals, in which each key says
// whether it restricts, and what most keys have in common.

import type { ValueMap } from '../expression/value.ts'

/** Says that a gateway which ignored the key would let something through that the document forbids. */
export const RESTRICTS = 'x-restricts'

/** Names that authors wish for, lower case without - and _, with what to write in place of each. */
export const WISHED = 'x-wished'

/** What editors offer to insert: `${1:…}` is where the cursor goes first. */
export const SNIPPET = 'x-snippet'

/** Keywords that say nothing about what is valid. */
export const ANNOTATIONS = [RESTRICTS, WISHED, SNIPPET]

/** JSON Schema 2020-12, as far as documents need it. */
export interface DocumentSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly DocumentSchema[]
  readonly allOf?: readonly DocumentSchema[]
  readonly not?: DocumentSchema
  readonly if?: DocumentSchema
  readonly then?: DocumentSchema
  readonly else?: DocumentSchema | false
  readonly properties?: Keys
  readonly required?: readonly string[]
  readonly additionalProperties?: DocumentSchema | false
  readonly items?: DocumentSchema
  readonly propertyNames?: DocumentSchema
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly default?: string | number | boolean | readonly string[]
  readonly readOnly?: boolean
  readonly description?: string
  readonly [SNIPPET]?: ValueMap
}

/** A key is written with `key` or with `restrictingKey`: it does not compile without the decision. */
export interface KeySchema extends DocumentSchema {
  readonly [RESTRICTS]?: boolean
  readonly [WISHED]?: Wishes
  readonly examples?: readonly (string | number)[]
}

type Wishes = Readonly<Record<string, string>>

export type Keys = Readonly<Record<string, KeySchema>>

/** Describes one type of action: its members beside `type` and the limits that every action may set. */
export interface ActionSchema extends Omit<DocumentSchema, 'type' | '$ref' | 'properties'> {
  readonly description: string
  readonly own: Keys
  /** The keys that it has in common with other types. */
  readonly shares: 'nothing' | 'limits' | 'wamp'
  /** Without its type. */
  readonly snippet: ValueMap
}

type Described = Omit<DocumentSchema, 'description'>

/** What helps authors to find a key and to fill it in. */
interface KeyHelp {
  readonly wished?: Wishes
  readonly examples?: KeySchema['examples']
}

/**
 * A key that an older gateway may ignore.
 * @example key('Display name.', { type: 'string' }, { examples: ['Orders'] })
 */
export const key = (description: string, schema: Described = {}, help: KeyHelp = {}): KeySchema =>
  describedKey(description, schema, help, false)

/** A key that forbids something: a gateway that does not know it rejects the document. */
export const restrictingKey = (
  description: string,
  schema: Described,
  help: KeyHelp = {},
): KeySchema => describedKey(description, schema, help, true)

const describedKey = (
  description: string,
  schema: Described,
  { wished, examples }: KeyHelp,
  restricts: boolean,
): KeySchema => ({
  ...schema,
  description,
  ...(examples && { examples }),
  ...(wished && { [WISHED]: wished }),
  [RESTRICTS]: restricts,
})

/**
 * What to write in place of each of some names.
 * @example instead("it is called 'on_result'", 'onsuccess')
 */
export const instead = (sentence: string, ...names: readonly string[]): Wishes =>
  Object.fromEntries(names.map((name) => [name, sentence]))

export const ref = (definition: string): { readonly $ref: string } => ({
  $ref: `#/$defs/${definition}`,
})

/** A text that holds an expression. */
export const HOLDS_EXPRESSION = { pattern: '\\{\\{' }

export const TEXT = { type: 'string' }
export const FREE_MAP = { type: 'object' }
export const MAP = { type: ['object', 'string'], ...HOLDS_EXPRESSION }
export const LIST = { type: ['array', 'string'], ...HOLDS_EXPRESSION }

/** A whole number within bounds, or an expression. */
export const integer = (bounds: Pick<DocumentSchema, 'minimum' | 'maximum'>): DocumentSchema => ({
  type: ['integer', 'string'],
  ...HOLDS_EXPRESSION,
  ...bounds,
})

/** One of some texts, or an expression. */
export const oneOf = (texts: readonly string[]): DocumentSchema => ({
  ...TEXT,
  anyOf: [{ enum: texts }, HOLDS_EXPRESSION],
})

/** The items are looked at only where there are few enough of them. */
export const listOf = (
  items: DocumentSchema,
  { maxItems, ...bounds }: { readonly maxItems: number; readonly minItems?: number },
): DocumentSchema => ({ ...bounds, maxItems, if: { maxItems }, then: { items } })

/** Chooses by `type` which further keys a map has: `definitions` has the name of each schema. */
export const branchesByType = (
  definitions: Readonly<Record<string, string>>,
): readonly DocumentSchema[] =>
  Object.entries(definitions).map(([type, definition]) => ({
    if: { required: ['type'], properties: { type: { const: type } } },
    then: ref(definition),
  }))
