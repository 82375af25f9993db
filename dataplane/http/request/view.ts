// Fills the request part of a context with what the templates of an operation read, and nothing else.

import type { IncomingMessage } from 'node:http'
import type { ContextRead } from '../../../language/expression/reads.ts'
import type { Scheme } from '../../../language/document.ts'
import { setOwn, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { clientAddress, clientPeername, isAddressRead } from '../../client-address.ts'
import { decodeForm } from '../../codec/codec.ts'
import type { RequestView } from '../../context.ts'
import { requestHeaderMap } from '../../header-map.ts'
import { canonicalAddress } from '../../plain-address.ts'
import type { Candidate, Match } from '../../../language/router/route.ts'
import { restOf } from '../../../language/routes/request-target.ts'
import type { Client } from './forwarded.ts'
import type { RequestHead } from './head.ts'
import type { CheckedHead } from './request-check.ts'

/** Which parts of the request an operation needs. */
export interface RequestNeeds {
  readonly peername: boolean
  readonly clientAddress: boolean
  readonly host: boolean
  readonly headers: boolean
  readonly queryParams: boolean
  readonly bindings: boolean
  readonly body: boolean
  readonly bodyLength: boolean
}

export const needsOf = (reads: readonly ContextRead[]): RequestNeeds => {
  const needs = (field: string): boolean =>
    reads.includes('request') || reads.includes(`request.${field}`)
  return {
    peername: needs('peername'),
    clientAddress: needs('client_address'),
    host: needs('host') || needs('port'),
    headers: needs('headers'),
    queryParams: needs('query_params'),
    bindings: needs('bindings'),
    body: needs('body'),
    bodyLength: needs('body_length'),
  }
}

export interface RequestFacts<T> extends UnmatchedFacts {
  readonly match: Match<T>
  readonly candidate: Candidate<T>
}

/** What is known of a request, whatever route it takes. */
export interface UnmatchedFacts {
  readonly request: IncomingMessage
  readonly head: Pick<RequestHead, 'authority' | 'target'>
  /** Lower case. */
  readonly method: string
  readonly scheme: Scheme
  readonly id: string
  readonly language: string
  readonly client: Client | undefined
  /** Query parameters and bindings with the types that schemas declare. */
  readonly checked?: CheckedHead | undefined
}

/** Body and length come later, once they have been read. */
export const fillRequestView = <T>(
  view: RequestView,
  needs: RequestNeeds,
  facts: RequestFacts<T>,
): void => {
  fillUnmatched(view, needs, facts)
  if (needs.bindings) view.bindings = facts.checked?.bindings ?? bindingMap(facts)
}

/** All but what its route binds. */
export const fillUnmatched = (
  view: RequestView,
  needs: RequestNeeds,
  facts: UnmatchedFacts,
): void => {
  view.id = facts.id
  view.method = facts.method
  view.scheme = facts.scheme
  const { target } = facts.head
  view.path = target.path
  view.query_string = target.query
  view.language = facts.language
  // Behind a trusted proxy, forwarding needs the address of the client.
  if (needs.peername || facts.client !== undefined) view.peername = readPeername(facts)
  if (needs.clientAddress) view.client_address = readAddress(facts)
  if (needs.host) fillHost(view, facts)
  if (needs.headers) view.headers = requestHeaderMap(facts.request.rawHeaders)
  const { checked } = facts
  if (needs.queryParams) view.query_params = checked?.queryParams ?? queryParams(target.query)
}

const NOTHING: ValueMap = Object.freeze({})

/** Percent-escapes that are not UTF-8 become U+FFFD, as in browsers: a query never fails a request. */
const queryParams = (query: string): ValueMap => (query === '' ? NOTHING : decodeForm(query))

const readPeername = ({ client, request }: UnmatchedFacts): string =>
  clientPeername(request, client)

/** Empty where it is not known: a proxy's own address is that of all its clients. */
const readAddress = ({ client, request }: UnmatchedFacts): string =>
  isAddressRead(request, client) ? canonicalAddress(clientAddress(request, client)) : ''

const fillHost = (view: RequestView, { head, request }: UnmatchedFacts): void => {
  const { host, port } = head.authority
  view.host = host
  view.port = port === '' ? String(request.socket.localPort ?? '') : port
}

export const bindingMap = <T>({
  match,
  candidate,
  head,
}: Pick<RequestFacts<T>, 'match' | 'candidate' | 'head'>): ValueMap => {
  const map: Record<string, Value> = {}
  const { bindings, rest, segments } = candidate.pattern
  // Each document has a host of its own, so it is mostly not in the processor's cache.
  if (match.hostCaptures.length > 0) {
    const names = candidate.host.bindings.filter((_, at) => candidate.host.labels[at] === null)
    bind(map, names, match.hostCaptures)
  }
  bind(map, bindings, match.captures)
  if (rest !== null) setOwn(map, rest, restOf(head.target.path, segments.length))
  return map
}

const bind = (
  map: Record<string, Value>,
  names: readonly (string | null)[],
  captures: readonly string[],
): void => {
  for (const [index, name] of names.entries()) {
    const value = captures[index]
    if (name !== null && value !== undefined) setOwn(map, name, value)
  }
}
