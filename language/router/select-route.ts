// Selects which operation or built-in endpoint of a matched path serves a request (behaviour §3): by scheme, then by
// method.

import { type Method, METHODS, type Scheme, type ServedScheme } from '../document.ts'
import type { EndpointRoute } from '../compile/endpoint-routes.ts'
import type { Candidate, Match } from './route.ts'

/** A path of a document, as far as selecting needs it. @typeParam S what stands for an operation */
export interface RoutedPath<S = object> {
  readonly kind: 'path'
  readonly schemes: readonly ServedScheme[]
  readonly operations: Readonly<Partial<Record<Method, S>>>
}

/** A built-in endpoint, as far as selecting needs it. */
export interface RoutedEndpoint {
  readonly kind: 'endpoint'
  readonly schemes: readonly ServedScheme[]
  readonly route: EndpointRoute
}

export type Selection<S, P extends RoutedPath<S>, E extends RoutedEndpoint> =
  | { readonly kind: 'operation'; readonly candidate: Candidate<P>; readonly slot: S }
  | { readonly kind: 'endpoint'; readonly endpoint: E }
  | { readonly kind: 'none'; readonly lacks: Lacks }

/** What no document declares for a path: the scheme, the method, or OPTIONS, which is answered all the same. */
export type Lacks = 'scheme' | 'method' | 'OPTIONS'

const none = (lacks: Lacks) => ({ kind: 'none', lacks }) as const
const NONE = { scheme: none('scheme'), method: none('method'), options: none('OPTIONS') }

/** @param method undefined: one that the language does not know */
export const selectRoute = <S, P extends RoutedPath<S>, E extends RoutedEndpoint>(
  match: Match<P | E>,
  scheme: Scheme,
  method: Method | undefined,
): Selection<S, P, E> => {
  if (method !== undefined) {
    const found =
      find<S, P, E>(match, scheme, method) ??
      (method === 'head' ? find<S, P, E>(match, scheme, 'get', 'path') : undefined)
    if (found !== undefined) return found
  }
  const isServed = match.candidates.some(({ target }) => target.schemes.includes(scheme))
  if (!isServed || isRedirected(match, scheme, method)) return NONE.scheme
  return method === 'options' ? NONE.options : NONE.method
}

/** Before a 405, as that is for https to say. */
export const isRedirected = (
  match: Match<Schemed>,
  scheme: Scheme,
  method: Method | undefined,
): boolean => scheme === 'http' && (method === 'get' || method === 'head') && hasRedirect(match)

/** Whether a document sends requests for the path from http to https. */
export const hasRedirect = (match: Match<Schemed>): boolean =>
  match.candidates.some(({ target }) => redirectsHttp(target))

type Schemed = Pick<RoutedPath, 'schemes'>

export const redirectsHttp = ({ schemes }: Schemed): boolean => schemes.includes('redirect_http')

/** @param only for a method that stands in for another: endpoints list all of theirs */
const find = <S, P extends RoutedPath<S>, E extends RoutedEndpoint>(
  match: Match<P | E>,
  scheme: Scheme,
  method: Method,
  only?: 'path',
): Selection<S, P, E> | undefined => {
  for (const candidate of match.candidates) {
    const { target } = candidate
    if (!target.schemes.includes(scheme)) continue
    if (target.kind === 'path') {
      const slot = target.operations[method]
      if (slot !== undefined)
        return { kind: 'operation', candidate: candidate as Candidate<P>, slot }
    } else if (only !== 'path' && target.route.methods.includes(method))
      return { kind: 'endpoint', endpoint: target }
  }
  return undefined
}

/** A path of a document, not a built-in endpoint. */
const isPath = <T extends { readonly kind: 'path' | 'endpoint' }>(
  candidate: Candidate<T>,
): candidate is Candidate<Extract<T, { readonly kind: 'path' }>> => candidate.target.kind === 'path'

/** undefined: no document has the path, but an endpoint. */
export const servingCandidate = <P extends RoutedPath, E extends RoutedEndpoint>(
  { candidates }: Match<P | E>,
  scheme: Scheme,
): Candidate<P> | undefined => {
  const paths = candidates.filter((candidate) => isPath(candidate)) as readonly Candidate<P>[]
  return paths.find(({ target }) => target.schemes.includes(scheme)) ?? paths[0]
}

/** The methods of all documents that share the path; HEAD comes with a document's GET, OPTIONS always. */
export const allowOf = (match: Match<RoutedPath | RoutedEndpoint>, scheme: Scheme): string => {
  const methods = new Set<string>(['OPTIONS'])
  for (const { target } of match.candidates) {
    if (!target.schemes.includes(scheme)) continue
    for (const method of methodsOf(target)) methods.add(method.toUpperCase())
  }
  return [...methods].sort().join(', ')
}

const methodsOf = (target: RoutedPath | RoutedEndpoint): readonly Method[] => {
  if (target.kind === 'endpoint') return target.route.methods
  const declared = METHODS.filter((method) => target.operations[method] !== undefined)
  return declared.includes('get') ? [...declared, 'head'] : declared
}

/** The schemes that the path is served over: `http and https`. */
export const schemesOf = (match: Match<RoutedPath | RoutedEndpoint>): string => {
  const schemes = new Set(match.candidates.flatMap(({ target }) => target.schemes))
  schemes.delete('redirect_http')
  return [...schemes].sort().join(' and ')
}

const KNOWN: Readonly<Record<string, Method>> = Object.fromEntries(
  METHODS.map((method) => [method.toUpperCase(), method]),
)

/** undefined for methods that the language does not know (TRACE, CONNECT, …). */
export const toMethod = (method: string | undefined): Method | undefined =>
  method !== undefined && Object.hasOwn(KNOWN, method) ? KNOWN[method] : undefined
