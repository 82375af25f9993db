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

/** @param allow the methods of the path */
export const preflightText = (
  { origins, methods = [] }: CompiledCors,
  { origin, method }: Preflight,
  allow: string,
): string => {
  const allowed = methods.length > 0 ? methods.join(', ') : allow
  if (origins !== 'any' && !isOneOf(origins, origin))
    return 'cors of the document answers, and allows nothing: the origin is none of its origins'
  return allowed.split(', ').includes(method)
    ? `cors of the document answers: pages of this origin may use ${allowed}`
    : `cors of the document answers, and allows nothing: pages may use ${allowed} only`
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
