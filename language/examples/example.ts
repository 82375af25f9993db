// Defines the examples of operations as documents have them. They are validated with their document. Types only.

import type { Method } from '../document.ts'
import type { CompiledApi, CompiledOperation, CompiledPath } from '../compile/compiled.ts'
import type { Value, ValueMap } from '../expression/value.ts'

type Scalar = string | number | boolean

export interface ExampleCaller {
  readonly authid: string
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
  readonly scopes?: readonly string[]
  readonly meta?: ValueMap
  readonly type?: string
}

export interface ExampleRequest {
  readonly method?: string
  readonly host?: string
  readonly scheme?: 'http' | 'https'
  readonly path?: string
  readonly bindings?: Readonly<Record<string, Scalar>>
  readonly query_params?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  readonly headers?: Readonly<Record<string, Scalar>>
  readonly body?: Value
  readonly address?: string
  readonly as?: ExampleCaller
}

export interface ExampleError {
  readonly error_uri: string
  readonly args?: readonly Value[]
  readonly kwargs?: ValueMap
  readonly details?: ValueMap
}

/** What an upstream or a procedure yields. */
export interface ExampleResult {
  readonly status_code?: number
  readonly headers?: Readonly<Record<string, Scalar>>
  readonly body?: Value
  readonly args?: readonly Value[]
  readonly kwargs?: ValueMap
  readonly details?: ValueMap
  readonly error?: ExampleError
}

export interface ExampleExpectation {
  readonly status_code?: number
  /** `false`: the response has no such header. */
  readonly headers?: Readonly<Record<string, Scalar>>
  readonly body?: Value
  readonly sent?: Value
}

export interface Example {
  readonly description?: string
  readonly request?: ExampleRequest
  readonly given?: ExampleResult | readonly ExampleResult[]
  readonly expect: ExampleExpectation
}

/** An operation of a version that is served. */
export interface PlacedOperation {
  readonly api: CompiledApi
  readonly path: CompiledPath
  readonly method: Method
  readonly operation: CompiledOperation
}

export interface PlacedExample extends PlacedOperation {
  readonly name: string
  /** JSON pointer into the document. */
  readonly pointer: string
  readonly example: Example
}
