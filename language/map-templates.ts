// Maps every template of a compiled operation in one place, so that code that counts, rewrites or encodes templates
// does not need to know where they stand. What is not mapped does not compile, as it is still of the former type.

import { mapAction } from './compile/action.ts'
import type { CallLimits, CompiledOperation, CompiledResponse } from './compiled.ts'
import { mapMembers } from './map-members.ts'

/**
 * The operation with each of its templates as `change` gives it, of another representation perhaps.
 * @example mapTemplates(operation, (template) => { seen.push(template); return template })
 */
export const mapTemplates = <A, B>(
  operation: CompiledOperation<A>,
  change: (template: A) => B,
): CompiledOperation<B> => ({
  ...operation,
  headers: change(operation.headers),
  limits: mapLimits(operation.limits, change),
  action: mapAction(operation.action, change),
  onResult: mapResponse(operation.onResult, change),
  onError: mapResponse(operation.onError, change),
})

const mapLimits = <A, B>(
  { timeout, connectTimeout, retries, retryTimeout }: CallLimits<A>,
  change: (template: A) => B,
): CallLimits<B> => ({
  ...(timeout === undefined ? {} : { timeout: change(timeout) }),
  connectTimeout: change(connectTimeout),
  retries: change(retries),
  retryTimeout: change(retryTimeout),
})

const mapResponse = <A, B>(
  response: CompiledResponse<A>,
  change: (template: A) => B,
): CompiledResponse<B> =>
  response.declared
    ? { declared: true, ...mapMembers(response, RESPONSE_MEMBERS, change) }
    : UNDECLARED

const RESPONSE_MEMBERS = ['headers', 'body', 'statusCode', 'uri'] as const

const UNDECLARED = { declared: false } as const
