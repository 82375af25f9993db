// Defines the notation in which realms are described: JSON Schema as TypeScript literals, with annotations from which
// the Realm resource, what may be read back, and what older gateways may ignore follow. `TypeOf` gives the type.

import type { ValueMap } from '../expression/value.ts'
import type { Importance } from './importance.ts'

/**
 * Who may read a value, and so how it stands in a Realm resource.
 * - `public`: read back as it is.
 * - `address`: a URL, which is read back without user, password and query; it stands in the resource as it is.
 * - `hash`: never read back; in the resource as a text or as `secretRef`.
 * - `secret`: never read back; in the resource as `secretRef` only.
 */
export type Sensitivity = 'public' | 'address' | 'hash' | 'secret'

/** What is no JSON Schema in this notation. */
export const ANNOTATIONS = [
  'x-sensitivity',
  'x-importance',
  'x-explain',
  'x-kubernetes-validations',
] as const

/** Each is a function of text-formats.ts, cookie-domain.ts, certificate-text.ts or json-schema/formats.ts. */
export type TextFormat =
  'cookie-domain' | 'plain-text' | 'redirect-origin' | 'page-origin' | 'certificates' | 'date-time'

/** A value that has no members of its own to validate. It does not compile without its sensitivity. */
export interface LeafSchema {
  readonly 'x-sensitivity': Sensitivity
  readonly type?: 'string' | 'integer' | 'boolean' | 'object' | readonly ['string', 'object']
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: TextFormat
  readonly default?: string | number | boolean
  readonly description?: string
  /** Rules in CEL that an API server holds the value of a Realm resource against. */
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string
    readonly message: string
  }[]
}

/** One text, or a list of texts. An API server can't be told that: it keeps what stands there. */
export interface TextsSchema {
  readonly 'x-sensitivity': 'public'
  readonly type: readonly ['string', 'array']
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: TextFormat
  readonly minItems: number
  readonly maxItems: number
  readonly items: LeafSchema
}

export const isTexts = (schema: LeafSchema | TextsSchema): schema is TextsSchema =>
  'items' in schema

export interface ListSchema {
  readonly type: 'array'
  readonly items: ValueSchema
  readonly minItems?: number
  readonly maxItems: number
  readonly default?: readonly string[]
  readonly description?: string
}

/** Keys are data. */
export interface MapSchema {
  readonly type: 'object'
  readonly maxProperties: number
  readonly additionalProperties: ValueSchema
  readonly description?: string
}

/** As `MapSchema`, of values that are only validated where there are few enough of them. */
export interface GuardedMapSchema {
  readonly type: 'object'
  readonly maxProperties: number
  readonly if: { readonly maxProperties: number }
  readonly then: { readonly additionalProperties: ValueSchema }
  readonly description?: string
}

export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
  readonly if?: object
  readonly then?: { readonly required: readonly string[] }
  readonly description?: string
}

export type ValueSchema =
  LeafSchema | TextsSchema | ListSchema | MapSchema | GuardedMapSchema | ObjectSchema

export type PropertySchema = ValueSchema & {
  /** Stands in messages about the record. */
  readonly description: string
  /** What `kubectl explain` shows of the resource; `description` when left out. */
  readonly 'x-explain'?: string
}

/** An object whose members older gateways pass over: each says whether they may. */
export interface ExtensibleSchema extends ObjectSchema {
  readonly properties: Readonly<
    Record<string, PropertySchema & { readonly 'x-importance': Importance }>
  >
}

export interface PublishedSchema extends ExtensibleSchema {
  readonly $schema: string
  readonly $id: string
  readonly title: string
}

/**
 * The schema of what a map has, whatever its keys are.
 * @example mapValues({ type: 'object', maxProperties: 9, additionalProperties: LEAF }) // LEAF
 */
export const mapValues = (schema: MapSchema | GuardedMapSchema): ValueSchema =>
  'then' in schema ? schema.then.additionalProperties : schema.additionalProperties

/** The values that a schema accepts. */
export type TypeOf<Schema> = Schema extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : Schema extends { readonly type: readonly ['string', 'array'] }
    ? string | readonly string[]
    : Schema extends { readonly 'x-kubernetes-preserve-unknown-fields': true }
      ? ValueMap
      : Schema extends { readonly items: infer Item }
        ? readonly TypeOf<Item>[]
        : Schema extends { readonly properties: infer Properties }
          ? ObjectOf<Properties, RequiredOf<Schema>>
          : Schema extends { readonly additionalProperties: infer Entry }
            ? Readonly<Record<string, TypeOf<Entry>>>
            : Schema extends { readonly then: { readonly additionalProperties: infer Entry } }
              ? Readonly<Record<string, TypeOf<Entry>>>
              : Schema extends { readonly type: readonly (infer Name)[] }
                ? LeafOf<Name>
                : Schema extends { readonly type: infer Name }
                  ? LeafOf<Name>
                  : never

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? Name
  : never

type ObjectOf<Properties, Required> = Flat<
  {
    readonly [Name in keyof Properties as Name extends Required ? Name : never]: TypeOf<
      Properties[Name]
    >
  } & {
    readonly [Name in keyof Properties as Name extends Required ? never : Name]?: TypeOf<
      Properties[Name]
    >
  }
>

/** As one object, which is how messages of the compiler show it. */
type Flat<T> = { readonly [Name in keyof T]: T[Name] }

interface Leaves {
  readonly string: string
  readonly integer: number
  readonly boolean: boolean
  readonly object: ValueMap
}

type LeafOf<Name> = Name extends keyof Leaves ? Leaves[Name] : never

/** A text of one line that may be read back: an id, a name, a URL. */
export const TEXT = {
  type: 'string',
  minLength: 1,
  format: 'plain-text',
  'x-sensitivity': 'public',
} as const

/** A list of them. */
export const TEXTS = { type: 'array', maxItems: 1000, items: TEXT } as const
