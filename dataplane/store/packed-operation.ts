// Splits a compiled operation into what most operations of a document have in common and what is its own, and joins
// the two again. Both contain encoded templates; what can be computed again is left out.

import { mapAction } from '../../language/compile/action.ts'
import type { CompiledOperation } from '../../language/compiled.ts'
import type { Template } from '../../language/expression/template.ts'
import { mapLimits, mapResponse, mapTemplates } from '../../language/map-templates.ts'
import { operationReads } from '../../language/operation-reads.ts'
import type { Encoded } from './template-codec.ts'

type BaseKey = 'security' | 'accepts' | 'provides' | 'body' | 'limits' | 'headers'

export type OperationBase<T = Template> = Pick<CompiledOperation<T>, BaseKey>
type OperationOwn<T = Template> = Omit<CompiledOperation<T>, BaseKey | 'reads'>

/** What a slice holds: the half of its own, and the number of the other one among the shared values; none: `base`. */
export type PackedOperation = OperationOwn<Encoded> & { readonly base?: number }

/** Both halves, their templates encoded. */
export const split = (
  operation: CompiledOperation,
  encode: (template: Template) => Encoded,
): { readonly base: OperationBase<Encoded>; readonly own: OperationOwn<Encoded> } => {
  const encoded = mapTemplates(operation, encode)
  const { security, accepts, provides, body, limits, headers, pointer, action, onResult, onError } =
    encoded
  return {
    base: { security, accepts, provides, body, limits, headers },
    own: { pointer, action, onResult, onError },
  }
}

type Decode = (encoded: Encoded) => Template

/** What several operations have in common, its templates decoded: once for all of them. */
export const joinBase = (base: OperationBase<Encoded>, decode: Decode): OperationBase => ({
  ...base,
  headers: decode(base.headers),
  limits: mapLimits(base.limits, decode),
})

/** The inverse of `split`, the base decoded before. */
export const join = (
  base: OperationBase,
  own: OperationOwn<Encoded>,
  decode: Decode,
): CompiledOperation => {
  const operation: CompiledOperation = {
    ...base,
    pointer: own.pointer,
    action: mapAction(own.action, decode),
    onResult: mapResponse(own.onResult, decode),
    onError: mapResponse(own.onError, decode),
    reads: [],
  }
  return { ...operation, reads: operationReads(operation) }
}
