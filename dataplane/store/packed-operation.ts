// Splits a compiled operation into what most operations of a document have in common and what is its own, and joins
// the two again. Both contain encoded templates; what can be computed again is left out.

import type { CompiledOperation } from '../../language/compiled.ts'
import type { Template } from '../../language/expression/template.ts'
import { mapAction, mapResponse, mapTemplates } from '../../language/map-templates.ts'
import { operationReads } from '../../language/operation-reads.ts'
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

type Decode = (encoded: Encoded) => Template

/** Decodes the templates of what several operations have in common, once for all of them. */
export const joinBase = (base: OperationBase, decode: Decode): OperationBase => {
  const { timeout, connectTimeout, retries, retryTimeout } = base.limits
  const read = (encoded: Template): Template => decode(encoded as unknown as Encoded)
  return {
    ...base,
    headers: read(base.headers),
    limits: {
      ...(timeout === undefined ? {} : { timeout: read(timeout) }),
      connectTimeout: read(connectTimeout),
      retries: read(retries),
      retryTimeout: read(retryTimeout),
    },
  }
}

/** The inverse of `split`, the base decoded before. */
export const join = (base: OperationBase, own: OperationOwn, decode: Decode): CompiledOperation => {
  const operation: CompiledOperation = {
    ...base,
    pointer: own.pointer,
    action: mapAction(own.action, (encoded) => decode(encoded as unknown as Encoded)),
    onResult: mapResponse(own.onResult, (encoded) => decode(encoded as unknown as Encoded)),
    onError: mapResponse(own.onError, (encoded) => decode(encoded as unknown as Encoded)),
    reads: [],
  }
  return { ...operation, reads: operationReads(operation) }
}
