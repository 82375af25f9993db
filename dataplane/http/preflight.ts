// Answers a preflight (Fetch §4.8) by the `cors` of what a page wants to call, also where the document declares OPTIONS.

import type { IncomingMessage } from 'node:http'
import type { OwningParts } from '../../language/compile/compiled.ts'
import { type Preflight, preflightHeaders } from './response/cors.ts'
import type { OwnHeaders } from './response/own-headers.ts'

/** undefined: the request is none. */
export const preflightOf = ({ method, headers }: IncomingMessage): Preflight | undefined => {
  if (method !== 'OPTIONS') return undefined
  const { origin } = headers
  const requestedMethod = headers['access-control-request-method']
  if (origin === undefined || requestedMethod === undefined) return undefined
  return { origin, method: requestedMethod, headers: headers['access-control-request-headers'] }
}

/** @param allow the methods of the path */
export type AnswerPreflight = (allow: string) => OwnHeaders

/**
 * @param partsOf what serves a method
 * @returns undefined: what the page wants to call has no `cors`
 */
export const preflightAnswer = (
  preflight: Preflight,
  partsOf: (method: string) => OwningParts,
): AnswerPreflight | undefined => {
  const { cors } = partsOf(preflight.method)
  if (cors === undefined) return undefined
  return (allow) => {
    const methods = (cors.methods ?? allow.split(', ')).filter(
      (method) => partsOf(method).cors === cors,
    )
    return { parts: { cors }, lines: preflightHeaders(cors, preflight, methods) }
  }
}
