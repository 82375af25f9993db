// Writes the request of an example as HTTP, without credentials.

import { isMap, type Value } from '../expression/value.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import { mediaKind } from '../routes/media-kind.ts'
import type { ExampleRequest, PlacedExample } from './example.ts'

export interface WrittenRequest {
  readonly method: string
  readonly scheme: 'http' | 'https'
  /** undefined: the document is served on any. */
  readonly host: string | undefined
  /** Path and query. */
  readonly target: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | undefined
}

/** @returns or what the example lacks */
export const writeRequest = (
  placed: PlacedExample,
): WrittenRequest | { readonly problem: string } => {
  const { api, path, method } = placed
  const request = placed.example.request ?? {}
  const written = request.path ?? pathOf(path.template, request.bindings ?? {})
  const host = request.host ?? hostOf(api.hosts[0], request.bindings ?? {})
  if (typeof written !== 'string') return written
  if (typeof host === 'object') return host
  const headers = headersOf(request)
  return {
    method: request.method ?? method.toUpperCase(),
    scheme: request.scheme ?? (path.schemes.includes('http') ? 'http' : 'https'),
    host,
    target: withQuery(written, request.query_params ?? {}),
    headers,
    body: bodyOf(request.body, headers),
  }
}

type Bindings = NonNullable<ExampleRequest['bindings']>

const missing = (name: string): { readonly problem: string } => ({
  problem: `name '${name}' among its bindings, or the whole path`,
})

/** The same as `:name` of `splitAtBindings`, anywhere in a path. */
const BINDING = /(?<![\p{L}\p{N}_]):([\w-]+)/gu
const INNERMOST = /\[([^[\]]*)\]/g

/** Optional segments are written where all that they bind is given. */
const pathOf = (template: string, bindings: Bindings): string | { readonly problem: string } => {
  const isGiven = (name: string): boolean => Object.hasOwn(bindings, name)
  const valueOf = (name: string): string => String(bindings[name])
  const required = decideOptional(template, isGiven)
  const absent = [...required.matchAll(BINDING)].find(([, name = '']) => !isGiven(name))
  if (absent !== undefined) return missing(absent[1] ?? '')
  const path = required
    .replaceAll(BINDING, (_, name: string) => encodeURIComponent(valueOf(name)))
    // What is left of a tail: its value is as it is sent.
    .replaceAll(/\uE000([\w-]*)/g, (_, name: string) => (isGiven(name) ? valueOf(name) : ''))
    .replaceAll(/\/{2,}/g, '/')
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

const decideOptional = (template: string, isGiven: (name: string) => boolean): string => {
  const decided = template.replaceAll(INNERMOST, (_, inner: string) => {
    if (inner.startsWith('...')) return `\uE000${inner.slice(3)}`
    const names = [...inner.matchAll(BINDING)].map(([, name = '']) => name)
    return names.length > 0 && names.every(isGiven) ? inner : ''
  })
  return decided === template ? template : decideOptional(decided, isGiven)
}

const hostOf = (
  pattern: HostPattern | undefined,
  bindings: Bindings,
): string | undefined | { readonly problem: string } => {
  if (pattern === undefined || pattern.labels.length === 0) return undefined
  const labels: string[] = []
  for (const [index, label] of pattern.labels.entries()) {
    const name = pattern.bindings[index] ?? ''
    const value = label ?? (Object.hasOwn(bindings, name) ? String(bindings[name]) : undefined)
    if (value === undefined && name !== '') return missing(name)
    labels.push(value ?? 'any')
  }
  return labels.join('.')
}

const withQuery = (path: string, query: NonNullable<ExampleRequest['query_params']>): string => {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => `${encodeURIComponent(name)}=${encodeURIComponent(String(each))}`),
  )
  if (parameters.length === 0) return path
  return `${path}${path.includes('?') ? '&' : '?'}${parameters.join('&')}`
}

const headersOf = ({ headers = {}, body }: ExampleRequest): WrittenRequest['headers'] => {
  const written = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  const isTyped = written.some(([name]) => name.toLowerCase() === 'content-type')
  return body === undefined || typeof body === 'string' || isTyped
    ? written
    : [...written, ['content-type', 'application/json']]
}

const bodyOf = (
  body: Value | undefined,
  headers: WrittenRequest['headers'],
): string | undefined => {
  if (body === undefined || typeof body === 'string') return body
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  if (mediaKind(type) !== 'form' || !isMap(body)) return JSON.stringify(body)
  const pairs = Object.entries(body).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((each): [string, string] => [
        name,
        typeof each === 'string' ? each : JSON.stringify(each),
      ]),
  )
  return new URLSearchParams(pairs).toString()
}
