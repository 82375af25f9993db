// Maps every template of a compiled operation in one place, so that code that counts, rewrites or encodes templates
// does not need to know where they stand. What is not mapped does not compile, as it is still of the former type.

import { mapAction } from './action.ts'
import { mapParts } from './operation-parts.ts'
import type { CompiledOperation } from './compiled.ts'
import type { CompiledResponse } from './compiled-response.ts'
import { mapMembers } from './map-members.ts'

/**
 * The operation with each of its templates as `change` gives it, of another representation perhaps.
 * @example mapTemplates(operation, (template) => { seen.push(template); return template })
 */
export const mapTemplates = <A, B>(
  operation: CompiledOperation<A>,
  change: (template: A) => B,
): CompiledOperation<B> => {
  // A part that may be absent has no place in what stays as it is.
  const { rateLimits, ...others } = operation
  return {
    ...others,
    ...mapParts('operation', { ...others, rateLimits }, change),
    action: mapAction(operation.action, change),
    onResult: mapResponse(operation.onResult, change),
    onError: mapResponse(operation.onError, change),
  }
}

const mapResponse = <A, B>(
  response: CompiledResponse<A>,
  change: (template: A) => B,
): CompiledResponse<B> =>
  response.declared
    ? { declared: true, ...mapMembers(response, RESPONSE_MEMBERS, change) }
    : UNDECLARED

const RESPONSE_MEMBERS = ['headers', 'body', 'statusCode', 'uri'] as const

const UNDECLARED = { declared: false } as const
