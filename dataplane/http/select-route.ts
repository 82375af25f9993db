// Selects which operation or endpoint of a matched path serves a request (behaviour §3): by scheme, then by method.

import { type Method, METHODS, type Scheme } from '../../language/document.ts'
import { GatewayError } from '../gateway-error.ts'
import type { Candidate, Match } from '../router/route.ts'
import type { OperationSlot, ServedEndpoint, ServedPath, ServedTarget } from '../served.ts'

export interface Selected<P> {
  readonly kind: 'operation'
  readonly candidate: Candidate<ServedPath<P>>
  readonly slot: OperationSlot<P>
}

export interface SelectedEndpoint {
  readonly kind: 'endpoint'
  readonly endpoint: ServedEndpoint
}

/** `undefined`: an OPTIONS that no document declares; the gateway responds with `allow`. */
export const selectTarget = <P>(
  match: Match<ServedTarget<P>>,
  scheme: Scheme,
  method: Method | undefined,
): Selected<P> | SelectedEndpoint | undefined => {
  if (method !== undefined) {
    const found =
      find(match, scheme, method) ??
      (method === 'head' ? find(match, scheme, 'get', 'path') : undefined)
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

/** @param only for a method that stands in for another: endpoints list all of theirs */
const find = <P>(
  match: Match<ServedTarget<P>>,
  scheme: Scheme,
  method: Method,
  only?: 'path',
): Selected<P> | SelectedEndpoint | undefined => {
  for (const candidate of match.candidates) {
    const { target } = candidate
    if (!target.schemes.includes(scheme)) continue
    if (isPath(candidate)) {
      const slot = candidate.target.operations[method]
      if (slot !== undefined) return { kind: 'operation', candidate, slot }
    } else if (
      target.kind === 'endpoint' &&
      only !== 'path' &&
      target.route.methods.includes(method)
    )
      return { kind: 'endpoint', endpoint: target }
  }
  return undefined
}

/** A path of a document, not a built-in endpoint. */
export const isPath = <P>(
  candidate: Candidate<ServedTarget<P>>,
): candidate is Candidate<ServedPath<P>> => candidate.target.kind === 'path'

/** The methods of all documents that share the path; HEAD comes with a document's GET, OPTIONS always. */
export const allowOf = <P>(match: Match<ServedTarget<P>>, scheme: Scheme): string => {
  const methods = new Set<string>(['OPTIONS'])
  for (const { target } of match.candidates) {
    if (!target.schemes.includes(scheme)) continue
    for (const method of methodsOf(target)) methods.add(method.toUpperCase())
  }
  return [...methods].sort().join(', ')
}

const methodsOf = <P>(target: ServedTarget<P>): readonly Method[] => {
  if (target.kind === 'endpoint') return target.route.methods
  const declared = METHODS.filter((method) => target.operations[method] !== undefined)
  return declared.includes('get') ? [...declared, 'head'] : declared
}

const wrongScheme = <P>(match: Match<ServedTarget<P>>): GatewayError => {
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
