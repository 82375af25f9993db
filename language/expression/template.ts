// Defines what an expression, or a value holding expressions, becomes once everything known at load has been folded.
// Plain readonly data: it prints in golden files and is sent to worker processes.

import type { Value } from './value.ts'

/**
 * The roots that only a request knows; and `status_codes`, which is the operation's own merged map wherever the text
 * that reads it stands. Reads of `variables` and `defaults` never survive folding.
 */
export type Root = 'request' | 'action' | 'security' | 'refusal' | 'status_codes'

/** A value that is known (`constant`) or waits for a request (all other kinds). */
export type Template =
  ConstantTemplate | MapTemplate | ListTemplate | TextTemplate | ReadTemplate | PipeTemplate

export interface ConstantTemplate {
  readonly kind: 'constant'
  readonly value: Value
}

/** A map in which at least one value waits. Keys are never expressions. */
export interface MapTemplate {
  readonly kind: 'map'
  readonly entries: readonly (readonly [key: string, value: Template])[]
  /** While a document is compiled: it is a map of headers, with names in lower case. */
  readonly isHeaders?: true
}

/** A list in which at least one element waits. */
export interface ListTemplate {
  readonly kind: 'list'
  readonly items: readonly Template[]
}

/** Mixed text: literal strings stand for themselves, templates are inserted by the template rule. */
export interface TextTemplate {
  readonly kind: 'text'
  readonly parts: readonly (string | Template)[]
}

/** `{{request.body.name}}`: root `request`, keys `['body', 'name']`. */
export interface ReadTemplate {
  readonly kind: 'read'
  readonly root: Root
  readonly keys: readonly string[]
}

/** `input |> call |> call`. `source` is the tag as written, for error messages. */
export interface PipeTemplate {
  readonly kind: 'pipe'
  readonly input: Template
  readonly calls: readonly PipeCall[]
  readonly source: string
}

/** Arguments stand in the order written; `_` (the piped map in `merge`) is `{kind: 'piped'}`. */
export interface PipeCall {
  readonly name: string
  /** What it takes are headers, which nothing at run time would say. */
  readonly ofHeaders?: true
  readonly args: readonly PipeArgument[]
}

export type PipeArgument = Template | { readonly kind: 'piped' }

export const constant = (value: Value): ConstantTemplate => ({ kind: 'constant', value })
