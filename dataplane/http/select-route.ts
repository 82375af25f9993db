// Which operation of a matched path serves a request (behaviour §3): scheme, then method. Pure.

import { type Method, METHODS, type Scheme } from '../../spec/document.ts'
import { GatewayError } from '../gateway-error.ts'
import type { Candidate, Match } from '../router/route.ts'
import type { OperationSlot, ServedPath } from '../served.ts'

export interface Selected<P> {
  readonly candidate: Candidate<ServedPath<P>>
  readonly slot: OperationSlot<P>
}

/** `undefined`: an OPTIONS that no document declares; `allow` answers it. */
export const selectOperation = <P>(
  match: Match<ServedPath<P>>,
  scheme: Scheme,
  method: Method | undefined,
): Selected<P> | undefined => {
  if (method !== undefined) {
    const found =
      find(match, scheme, method) ?? (method === 'head' ? find(match, scheme, 'get') : undefined)
    if (found !== undefined) return found
  }
  if (!match.candidates.some(({ target }) => target.schemes.includes(scheme)))
    throw wrongScheme(match)
  if (method === 'options') return undefined
  throw new GatewayError('svc.error.method_not_allowed', 'This path does not serve that method', {
    description: `It serves ${allowOf(match, scheme)}.`,
    headers: { allow: allowOf(match, scheme) },
  })
}

const find = <P>(
  match: Match<ServedPath<P>>,
  scheme: Scheme,
  method: Method,
): Selected<P> | undefined => {
  for (const candidate of match.candidates) {
    const slot = candidate.target.operations[method]
    if (slot !== undefined && candidate.target.schemes.includes(scheme)) return { candidate, slot }
  }
  return undefined
}

/** The union over all documents that share the path; HEAD comes with GET, OPTIONS always. */
export const allowOf = <P>(match: Match<ServedPath<P>>, scheme: Scheme): string => {
  const methods = new Set<string>()
  for (const { target } of match.candidates) {
    if (!target.schemes.includes(scheme)) continue
    for (const method of METHODS)
      if (target.operations[method] !== undefined) methods.add(method.toUpperCase())
  }
  if (methods.has('GET')) methods.add('HEAD')
  methods.add('OPTIONS')
  return [...methods].sort().join(', ')
}

const wrongScheme = <P>(match: Match<ServedPath<P>>): GatewayError => {
  const schemes = new Set(match.candidates.flatMap(({ target }) => target.schemes))
  return new GatewayError('svc.error.not_found', 'Nothing is served here over this scheme', {
    description: `This path is served over ${[...schemes].sort().join(' and ')}.`,
  })
}

const KNOWN: Readonly<Record<string, Method>> = Object.fromEntries(
  METHODS.map((method) => [method.toUpperCase(), method]),
)

/** undefined for methods that the language does not know (TRACE, CONNECT, …). */
export const toMethod = (method: string | undefined): Method | undefined =>
  method !== undefined && Object.hasOwn(KNOWN, method) ? KNOWN[method] : undefined
