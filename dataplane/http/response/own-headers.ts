// Composes the head of every response: rendered, fixed, streamed, refused, of a built-in endpoint, to an upgrade, or to what
// is no request. What the gateway adds to responses is added here, and nowhere else.

import type { IncomingHttpHeaders } from 'node:http'
import { internData } from '../../../base/intern.ts'
import { oncePer } from '../../../base/once.ts'
import type { OwningParts } from '../../../language/compile/compiled.ts'
import { ownerOf } from '../../../language/compile/operation-parts.ts'
import { headerOf, type HeaderList } from './headers.ts'
import { corsHeaders } from './cors.ts'
import { withOneVary } from './vary.ts'

/** What a response carries besides its own status, headers and body. */
export interface Envelope extends RequestFields {
  readonly deprecation?: Readonly<Record<string, string>> | undefined
  /** The headers that the response was negotiated by: `accept`, `accept, accept-language`. */
  readonly vary?: string | undefined
  /** The cache of the operation, whose deprecation and `vary` are always the same. */
  readonly headCache?: HeadCache
}

/** What may differ between the requests of one operation. Everything else that is added is part of the memo. */
export interface RequestFields {
  readonly requestId: string
  /** Picked from the version's languages; left out before a version is known. */
  readonly language?: string | undefined
  /** What parts of the document say of every response, in place of what others write; left out: it has no such part. */
  readonly own?: OwnHeaders | undefined
  /** What is left of rate limits, beside what an upstream says of its own: both are lists. Left out: nothing is said. */
  readonly rateLimit?: HeaderList | undefined
}

export interface OwnHeaders {
  readonly parts: OwningParts
  /** For this request. */
  readonly lines: HeaderList
}

interface OwnPart<P extends keyof OwningParts> {
  /** What of the request its headers depend on, as `Vary` has it. */
  readonly vary: string
  readonly write: (part: NonNullable<OwningParts[P]>, request: IncomingHttpHeaders) => HeaderList
}

const OWN_PARTS: { readonly [P in keyof OwningParts]-?: OwnPart<P> } = {
  cors: { vary: 'origin', write: (cors, { origin }) => corsHeaders(cors, origin) },
}

const OWN_NAMES = Object.keys(OWN_PARTS) as readonly (keyof OwningParts)[]

/** The parts of this kind that there are, for keys of caches. */
export const ownNames = (parts: OwningParts): readonly (keyof OwningParts)[] =>
  OWN_NAMES.filter((name) => parts[name] !== undefined)

/** Those of what may have other parts. Equal ones are one object, so that it shows which methods have the same. */
export const owningParts = oncePer((parts: OwningParts): OwningParts => {
  const entries = ownNames(parts).map((name) => [name, internData(parts[name] ?? {})])
  return Object.fromEntries(entries) as OwningParts
})

/** @param parts of an operation, a path, or a version where no path of it matches */
export const ownHeaders = (
  parts: OwningParts,
  request: IncomingHttpHeaders,
): OwnHeaders | undefined => {
  let lines: HeaderList | undefined
  for (const name of OWN_NAMES) {
    const part = parts[name]
    if (part === undefined) continue
    // What a row writes is its own part.
    const write = OWN_PARTS[name].write as (part: unknown, headers: typeof request) => HeaderList
    lines = [...(lines ?? []), ...write(part, request)]
  }
  return lines && { parts, lines }
}

/** The head lines of an earlier response of an operation, and what they were made of. */
export interface HeadCache {
  headers: HeaderList | undefined
  contentType: string | undefined
  lines: string | undefined
}

/** A response, as far as its head is made of it. */
export interface HeadParts {
  readonly headers: HeaderList
  /** undefined: none, or among the headers of a body of others. */
  readonly contentType?: string | undefined
  /** Whose it is: what an upstream sends keeps its own description, and so does what is sent on an upgraded connection. */
  readonly body: 'ours' | 'of others'
}

/** A flat list of names and values. */
export const composeHead = (parts: HeadParts, envelope: Envelope): string[] => [
  ...requestHead(parts, envelope),
  ...sharedHead(parts, envelope),
]

/** The part that may differ between the requests of an operation. */
export const requestHead = (
  { headers, body }: Omit<HeadParts, 'contentType'>,
  { requestId, language, own, rateLimit }: RequestFields,
): string[] => {
  const head = ['x-request-id', requestId]
  if (body === 'ours' && language !== undefined && !hasHeader(headers, 'content-language'))
    head.push('content-language', language)
  if (own !== undefined) for (const [name, value] of own.lines) head.push(name, value)
  if (rateLimit !== undefined) for (const [name, value] of rateLimit) head.push(name, value)
  return head
}

/**
 * The part that depends on the response and the operation. Headers of the response win by name over what is added. But
 * `Vary` is merged, as caches would mix up responses otherwise, and a link stands beside others: it is one of a list (RFC
 * 8288 §3).
 */
export const sharedHead = (
  { headers, contentType, body }: HeadParts,
  { deprecation = NONE, vary, own }: Omit<Envelope, 'requestId' | 'language'>,
): string[] => {
  const head: string[] = []
  for (const [name, value] of negotiatedHeaders(headers, {
    vary: body === 'ours' ? vary : undefined,
    own,
  }))
    if (!LEFT_OUT[body].has(name)) head.push(name, value)
  if (contentType !== undefined) head.push('content-type', contentType)
  if (body === 'ours' && !hasHeader(headers, 'x-content-type-options'))
    head.push('x-content-type-options', 'nosniff')
  for (const [name, value] of Object.entries(deprecation))
    if (name === 'link' || !hasHeader(headers, name)) head.push(name, value)
  return head
}

const negotiatedHeaders = (
  headers: HeaderList,
  { vary, own }: Pick<Envelope, 'vary' | 'own'>,
): HeaderList => {
  const added: HeaderList = vary === undefined ? [] : [['vary', vary]]
  if (own === undefined) return added.length === 0 ? headers : withOneVary([...headers, ...added])
  const { parts } = own
  return withOneVary([
    ...headers.filter(([name]) => ownerOf(parts, name) === undefined),
    ...added,
    ...ownNames(parts).map((name) => ['vary', OWN_PARTS[name].vary] as const),
  ])
}

const NONE: Readonly<Record<string, string>> = {}

/** The id is the gateway's; the rest describes a body, or frames it, and is written for the body that is sent. */
const LEFT_OUT = {
  ours: new Set(['x-request-id', 'content-type', 'content-encoding']),
  'of others': new Set(['x-request-id', 'content-length']),
} as const satisfies Record<HeadParts['body'], ReadonlySet<string>>

const hasHeader = (headers: HeaderList, name: string): boolean =>
  headers.length > 0 && headerOf(headers, name) !== undefined
