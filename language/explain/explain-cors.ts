// Explains what `cors` of a document makes of a preflight, and writes it in one line for lists.

import type { CompiledCors } from '../compile/compiled.ts'
import { isOneOf } from '../routes/origin.ts'
import { isList, isMap, type Value } from '../expression/value.ts'
import { headerOf, type ReadRequest } from './read-request.ts'

export interface Preflight {
  readonly origin: string
  readonly method: string
}

/** undefined: the request is no preflight. */
export const preflightIn = (request: ReadRequest): Preflight | undefined => {
  const origin = headerOf(request, 'origin')
  const method = headerOf(request, 'access-control-request-method')
  return request.method === 'OPTIONS' && origin !== undefined && method !== undefined
    ? { origin, method }
    : undefined
}

/** @param allowed those that the gateway would list: the methods of this `cors`, or of the path, that have no other `cors` */
export const preflightText = (
  { origins }: CompiledCors,
  { origin, method }: Preflight,
  allowed: readonly string[],
): string => {
  if (origins !== 'any' && !isOneOf(origins, origin))
    return 'cors of the document answers, and allows nothing: the origin is none of its origins'
  const list = allowed.join(', ') || 'no method'
  return allowed.includes(method)
    ? `cors of the document answers: pages of this origin may use ${list}`
    : `cors of the document answers, and allows nothing: pages may use ${list} only`
}

const WITH_CREDENTIALS = ' with credentials'

/**
 * @param described as `explain` has it
 * @example 'https://a.test, https://*.b.test with credentials'
 */
export const corsText = (described: Value | undefined): string | undefined => {
  if (!isMap(described ?? null)) return undefined
  const { origins = [], credentials } = described as Readonly<Record<string, Value>>
  const names = isList(origins) ? origins.map(String) : []
  return `${names.toSorted().join(', ')}${credentials === true ? WITH_CREDENTIALS : ''}`
}
