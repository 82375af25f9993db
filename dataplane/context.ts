// Defines the context that templates are evaluated against: one constructor and one shape, so that every read of it
// stays monomorphic. Fields that no template of the operation reads keep their placeholder.

import type { Value, ValueMap } from '../language/expression/value.ts'

const NOTHING: ValueMap = Object.freeze({})

/** Specification §2.10, behaviour §3 *Request object*. Own enumerable fields: lookups use own keys. */
export class RequestView {
  id = ''
  method = ''
  scheme = ''
  peername = ''
  client_address = ''
  path = ''
  host = ''
  port = ''
  headers: ValueMap = NOTHING
  language = ''
  query_string = ''
  query_params: ValueMap = NOTHING
  bindings: ValueMap = NOTHING
  body: Value = ''
  body_length = 0
  readonly [key: string]: Value
}

/** `{result}` or `{error}` once the action is done; empty before. */
export interface ActionView extends ValueMap {
  readonly result?: ValueMap
  readonly error?: ValueMap
}

export class Context {
  readonly request: RequestView = new RequestView()
  action: ActionView = NOTHING
  /** Identity of the caller (behaviour §6); empty for anonymous requests. */
  security: ValueMap = NOTHING
  /** Why the request is refused: while a refusal is rendered. */
  refusal: ValueMap = NOTHING
  /** The operation's merged table: `{{status_codes}}`. */
  status_codes: ValueMap = NOTHING
  /** Bytes that templates and functions may still produce for this request (behaviour §1: 8 MiB). */
  budget = 8 * 1024 * 1024
  /** Work that expressions may still take for this request. */
  work: number | undefined = undefined
}
