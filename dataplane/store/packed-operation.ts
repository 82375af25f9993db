// A compiled operation in two halves: what most operations of a document have in common, and what is its
// own. Templates stand encoded in both; what can be worked out again is left out.

import type { CompiledOperation } from '../../spec/compiled.ts'
import type { Template } from '../../spec/expression/template.ts'
import { mapTemplates } from '../../spec/map-templates.ts'
import { operationReads } from '../../spec/operation-reads.ts'
import type { Encoded } from './template-codec.ts'

type BaseKey = 'security' | 'accepts' | 'provides' | 'body' | 'limits' | 'headers'

export type OperationBase = Pick<CompiledOperation, BaseKey>
export type OperationOwn = Omit<CompiledOperation, BaseKey | 'reads'>

/** Both halves with encoded templates, which only `join` may read as templates again. */
export const split = (
  operation: CompiledOperation,
  encode: (template: Template) => Encoded,
): { readonly base: OperationBase; readonly own: OperationOwn } => {
  const encoded = mapTemplates(operation, (template) => encode(template) as unknown as Template)
  const { security, accepts, provides, body, limits, headers, pointer, action, onResult, onError } =
    encoded
  return {
    base: { security, accepts, provides, body, limits, headers },
    own: { pointer, action, onResult, onError },
  }
}

/** The inverse of `split`. */
export const join = (
  base: OperationBase,
  own: OperationOwn,
  decode: (encoded: Encoded) => Template,
): CompiledOperation => {
  const operation = mapTemplates({ ...base, ...own, reads: [] }, (encoded) =>
    decode(encoded as unknown as Encoded),
  )
  return { ...operation, reads: operationReads(operation) }
}
