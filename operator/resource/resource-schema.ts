// Defines the notation in which resources are described: JSON Schema as TypeScript literals, as realms are (realm-notation.ts
// of the language). A definition (CRD), what is checked of a file, and what an editor offers follow from it.

import type { Value } from '../../language/expression/value.ts'

export type ResourceSchema =
  | TextSchema
  | IntegerSchema
  | BooleanSchema
  | SecretSchema
  | TextsSchema
  | ListSchema
  | MapSchema
  | ObjectSchema
  | OpenSchema

interface Described {
  /** One sentence: `kubectl explain` shows it. */
  readonly description?: string
  /** Written into the object by the API server where the member is absent. */
  readonly default?: Value
  /** What the API server checks a value by, in CEL; nothing else does. */
  readonly 'x-kubernetes-validations'?: readonly Rule[]
}

export interface Rule {
  /** With `oldSelf` it applies to changes only. */
  readonly rule: string
  readonly message: string
  /** Where the problem is, from the value: `.name`. */
  readonly fieldPath?: string
}

interface TextSchema extends Described {
  readonly type: 'string'
  readonly enum?: readonly string[]
  readonly minLength?: 1
  readonly maxLength?: number
  /** For the API server alone. */
  readonly format?: 'date-time'
}

interface IntegerSchema extends Described {
  readonly type: 'integer'
  readonly minimum?: number
}

interface BooleanSchema extends Described {
  readonly type: 'boolean'
}

/** `{secretRef: {name, key}}`; of a hash also the text itself. */
interface SecretSchema extends Described {
  readonly 'x-sensitivity': 'hash' | 'secret'
}

/** One text, or a list of texts. */
interface TextsSchema extends Described {
  readonly 'x-texts': true
}

export interface ListSchema extends Described {
  readonly type: 'array'
  readonly items: ResourceSchema
  readonly maxItems?: number
  /**
   * Members that distinguish one item from another: several appliers may each own some of the list. Without them it
   * is one value, in its order. For the API server alone.
   */
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

/** Keys are data. */
interface MapSchema extends Described {
  readonly type: 'object'
  readonly additionalProperties: ResourceSchema
  readonly maxProperties?: number
}

export interface ObjectSchema extends Described {
  readonly type: 'object'
  readonly properties: Properties
  readonly required?: readonly string[]
  /** One value for server-side apply: two appliers never mix their members in it. */
  readonly 'x-kubernetes-map-type'?: 'atomic'
}

/** Any map, kept as it is. */
interface OpenSchema extends Described {
  readonly type: 'object'
  readonly 'x-kubernetes-preserve-unknown-fields': true
  readonly 'x-kubernetes-map-type'?: 'atomic'
  /** For the API server, its columns and selectors; what else validates the map validates these too. */
  readonly properties?: Properties
  /** Names of members that belong in it, for a hint when one is written a level too high. */
  readonly 'x-holds'?: readonly string[]
}

export type Properties = Readonly<Record<string, ResourceSchema>>

/** `gatewayClassName` of ApiSpecifications and Realms that name none. */
export const DEFAULT_CLASS = 'svc'

export const TEXT = { type: 'string', minLength: 1 } as const satisfies ResourceSchema
export const TEXTS = { type: 'array', items: TEXT } as const satisfies ResourceSchema
export const KEY_REFERENCE = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  required: ['name', 'key'],
  properties: {
    name: { ...TEXT, description: 'Name, in the same namespace.' },
    key: { ...TEXT, description: 'Key in its data.' },
  },
} as const satisfies ObjectSchema
export const SECRET_REFERENCE = {
  type: 'object',
  required: ['secretRef'],
  properties: { secretRef: { ...KEY_REFERENCE, description: 'A key of a Secret.' } },
} as const satisfies ObjectSchema

export const isOpen = (schema: ResourceSchema): schema is OpenSchema =>
  'x-kubernetes-preserve-unknown-fields' in schema

/** Its members are all known. */
export const isObject = (schema: ResourceSchema): schema is ObjectSchema =>
  'properties' in schema && !isOpen(schema)
