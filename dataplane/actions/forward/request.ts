// Builds the request to an upstream from an exchange: everything that the document leaves open comes from the
// client's request. Closures are created once per operation.

import type { IncomingMessage } from 'node:http'
import type { ForwardAction } from '../../../language/compile/forward-action.ts'
import {
  type CompiledSecurity,
  credentialPlaceOf,
  authSchemesOf,
} from '../../../language/compile/security.ts'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { visitNames } from '../../../language/expression/header-templates.ts'
import { type EvaluationContext, evaluator } from '../../../language/expression/run.ts'
import { chargeCopy } from '../../../language/expression/keys.ts'
import type { Template } from '../../../language/expression/template.ts'
import { toText, urlWriter } from '../../../language/expression/text.ts'
import { isMap, type Value } from '../../../language/expression/value.ts'
import { writtenAsUtf8 } from '../../../language/routes/media-kind.ts'
import { routedName } from '../../../language/routes/authority.ts'
import { readOrigin } from '../../../language/upstream-origin.ts'
import { dashed } from '../../../language/unsent-headers.ts'
import { clientAddress } from '../../client-address.ts'
import { GatewayError } from '../../gateway-error.ts'
import { namedByConnection } from '../../header-map.ts'
import { readHeaderText } from '../../header-text.ts'
import {
  fromClient,
  fromDocument,
  type HeaderList,
  valuesOf,
  withWebSocketOffer,
} from '../../upstream/headers.ts'
import {
  encodePart,
  encodePathText,
  encodeSegment,
  encodeQueryText,
  requestTarget,
} from '../../upstream/url.ts'
import type { WebSocketOffer } from '../../web-socket-switch.ts'
import { type OutgoingBody, prepareDocumentBody } from './document-body.ts'
import { askForWholeBody } from './read-response.ts'
import type { Exchange } from '../performer.ts'

/** The host, of several, that the current attempt goes to. */
export interface HostChoice {
  readonly origin: string
  /** Chooses again, for another attempt. */
  goOn(): void
  /** Call it when a response has begun. */
  onReached(): void
  /** Call it when the connection could not be opened. */
  onUnreached(): void
}

/** The request to the upstream, without its times. */
export interface OutgoingRequest {
  /** The origin of the first attempt. */
  readonly origin: string
  /** Set if the document names several hosts; it has the origin of each attempt. */
  readonly hosts: HostChoice | undefined
  /** Whether the document names the origin literally. */
  readonly isNamed: boolean
  /** Upper case. */
  readonly method: string
  readonly path: string
  readonly headers: HeaderList
  /** undefined: that of the origin. */
  readonly hostHeader: string | undefined
  /** What a client offers that asks to switch to a WebSocket, where the document lets it. */
  readonly webSocket: WebSocketOffer | undefined
  /** `client`: the body of the request, as it arrives. */
  readonly body: Buffer | null | 'client'
}

export interface RequestOptions {
  readonly action: ForwardAction
  /** The origin, or the choice among several. */
  readonly target: (context: EvaluationContext) => string | HostChoice
  readonly security: CompiledSecurity
  /** The document reads the body of the response. */
  readonly readsBody: boolean
  /** Then HEAD is sent as GET, as the response to a HEAD would have no body. */
  readonly isServedByGet: boolean
  /** Name of the binding that has the rest of the client's path. */
  readonly rest?: string | undefined
}

type PrepareRequest = (exchange: Exchange) => OutgoingRequest

/**
 * @returns a closure that throws GatewayError or ExpressionError for requests that cannot be forwarded
 */
export const prepareRequest = ({
  action,
  target,
  security,
  readsBody,
  isServedByGet,
  rest,
}: RequestOptions): PrepareRequest => {
  const pathAndQuery = preparePathAndQuery(action, rest)
  const isNamed = isNamedByDocument(action)
  const allHeaders = prepareHeaders(action, credentialsOf(security))
  const headers = readsBody
    ? (exchange: Exchange) => askForWholeBody(allHeaders(exchange), exchange.incoming.rawHeaders)
    : allHeaders
  const documentBody = action.body && prepareDocumentBody(action.body)
  const method = action.method?.toUpperCase()

  return (exchange) => {
    const { context, incoming } = exchange
    const own = method ?? incoming.method ?? 'GET'
    const { webSocket } = exchange
    const listed = headers(exchange)
    const list = webSocket === undefined ? listed : withWebSocketOffer(listed, webSocket)
    const chosen = target(context)
    const outgoing = {
      origin: typeof chosen === 'string' ? chosen : chosen.origin,
      hosts: typeof chosen === 'string' ? undefined : chosen,
      isNamed,
      method: readsBody && isServedByGet && own === 'HEAD' ? 'GET' : own,
      path: pathAndQuery(exchange),
      headers: list,
      hostHeader: action.hostHeader === 'request' ? routedHost(exchange.authority) : undefined,
      webSocket,
    }
    if (documentBody === undefined) return { ...outgoing, body: clientBody(exchange) }
    const written = documentBody(context, ownContentType(action, list))
    describeBody(list, written)
    return { ...outgoing, body: written.bytes }
  }
}

/** With the port that the client names, as some applications write it into their URLs. */
const routedHost = ({ host, port }: Exchange['authority']): string => {
  const name = routedName(host)
  return port === '' ? name : `${name}:${port}`
}

const describeBody = (list: HeaderList, { bytes, contentType, isText }: OutgoingBody): void => {
  const type = bytes === null ? undefined : (contentType ?? headerOf(list, 'content-type'))
  removeHeader(list, 'content-encoding')
  removeHeader(list, 'content-type')
  if (type !== undefined) list.push('content-type', isText ? writtenAsUtf8(type) : type)
}

const isNamedByDocument = ({ host, hosts }: ForwardAction): boolean =>
  host === undefined
    ? hosts.every((each) => each.host.kind === 'constant')
    : host.kind === 'constant'

/** A constant host is parsed once; others are few, so that they are cached for a while. */
export const prepareOrigin = (host: Template): ((context: EvaluationContext) => string) => {
  const run = evaluator(host)
  const known = new Map<string, string>()
  return (context) => {
    const text = run(context)
    if (typeof text !== 'string') {
      throw new ExpressionError('host: text is expected', { ...HOST, template: host })
    }
    const origin = known.get(text)
    if (origin !== undefined) return origin
    const reading = readOrigin(text)
    if (!reading.ok) throw badHost(host, reading.message)
    if (known.size >= 64) known.clear()
    known.set(text, reading.origin)
    return reading.origin
  }
}

const badHost = (host: Template, message: string): Error =>
  host.kind === 'constant'
    ? new ExpressionError(`host ${message}`, HOST)
    : new GatewayError('svc.error.invalid_data', `The host to forward to ${message}.`, HOST)

const HOST = { member: '/action/host' }
const HEADERS = { member: '/action/headers' }

const preparePathAndQuery = (
  action: ForwardAction,
  rest: string | undefined,
): ((exchange: Exchange) => string) => {
  const path =
    action.path &&
    urlWriter(action.path, {
      part: encodeSegment,
      queryPart: encodePart,
      text: encodePathText,
      rest,
    })
  const query =
    action.queryString && urlWriter(action.queryString, { part: encodePart, text: encodeQueryText })
  return ({ context, incoming }) => {
    const target = requestTarget(
      path === undefined ? context.request.path : path(context),
      query === undefined ? context.request.query_string : query(context),
    )
    // Documents do not see an empty query, but a signature may include it.
    const isEmptyQuery = query === undefined && incoming.url?.endsWith('?') === true
    return isEmptyQuery && !target.includes('?') ? `${target}?` : target
  }
}

/** The headers whose credentials the gateway itself verifies. */
const credentialsOf = (security: CompiledSecurity): readonly string[] =>
  authSchemesOf(security).flatMap((scheme) => {
    const { header } = credentialPlaceOf(scheme)
    return header === undefined ? [] : [dashed(header.toLowerCase())]
  })

const prepareHeaders = (
  action: ForwardAction,
  credentials: readonly string[],
): ((exchange: Exchange) => HeaderList) => {
  if (action.headers === undefined) {
    return (exchange) => {
      const list = fromClient(exchange.incoming.rawHeaders, credentials)
      addForwarding(list, exchange)
      return list
    }
  }
  const document = prepareDocumentHeaders(action.headers, credentials)
  const keepsBody = action.body === undefined
  return (exchange) => {
    const { incoming, context } = exchange
    const list = document(incoming, context)
    // They describe the body, which is sent as it came.
    if (keepsBody)
      for (const name of ['content-type', 'content-encoding']) borrow(list, incoming, name)
    for (const name of ['traceparent', 'tracestate']) borrow(list, incoming, name)
    addForwarding(list, exchange)
    return list
  }
}

const prepareDocumentHeaders = (
  template: Template,
  credentials: readonly string[],
): ((incoming: IncomingMessage, context: Exchange['context']) => HeaderList) => {
  const run = evaluator(template)
  // If the headers are written name by name, the document means what it sets; a whole map is just passed on.
  const isExplicit = template.kind === 'map' || template.kind === 'constant'
  const written = new Set<string>()
  const dropped = new Set<string>()
  const addTo = (set: Set<string>) => (names: readonly string[]) => {
    for (const name of names) set.add(name.toLowerCase())
  }
  visitNames(template, { onWritten: addTo(written), onDropped: addTo(dropped) })
  return (incoming, context) => {
    const map = run(context)
    if (!isMap(map)) {
      throw new ExpressionError('headers: a map is expected', { ...HEADERS, template })
    }
    chargeCopy(map, context)
    const { list, problem: error } = fromDocument(map, {
      toText: (value) => toText(value, context),
      clients: context.request.headers,
      written,
      dropped,
      isClients: (plain, value) => isClients(incoming.rawHeaders, plain, value),
      credentials: isExplicit ? [] : credentials,
    })
    if (error === undefined) return list
    throw new GatewayError(
      'svc.error.invalid_data',
      `A header can't be forwarded: ${error}.`,
      HEADERS,
    )
  }
}

const isClients = (raw: readonly string[], plain: string, value: Value): boolean => {
  const sent: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (dashed((raw[at] ?? '').toLowerCase()) === plain)
      sent.push(readHeaderText(raw[at + 1] ?? ''))
  }
  return sent.some((each) => each === value) || sent.join(', ') === value
}

const borrow = (list: HeaderList, incoming: IncomingMessage, name: string): void => {
  const [value] = namedByConnection(incoming.rawHeaders)?.has(name)
    ? []
    : valuesOf(incoming.rawHeaders, name)
  if (value !== undefined && headerOf(list, name) === undefined) list.push(name, value)
}

const addForwarding = (
  list: HeaderList,
  { incoming, authority, context: { request } }: Exchange,
): void => {
  list.push(
    'x-forwarded-for',
    addressOf(request.peername, incoming),
    'x-forwarded-proto',
    request.scheme,
    'x-forwarded-host',
    authority.text,
    'x-request-id',
    request.id,
  )
}

const addressOf = (peername: string, incoming: IncomingMessage): string => {
  if (peername === '') return clientAddress(incoming, undefined)
  const address = peername.slice(0, peername.lastIndexOf(':'))
  return address.startsWith('[') ? address.slice(1, -1) : address
}

const clientBody = ({ incoming, rawBody }: Exchange): OutgoingRequest['body'] => {
  if (rawBody !== undefined) return rawBody.length === 0 ? null : rawBody
  const { rawHeaders } = incoming
  const hasBody =
    valuesOf(rawHeaders, 'transfer-encoding').length > 0 || (declaredLength(incoming) ?? 0) > 0
  return hasBody ? 'client' : null
}

/** Bytes of the client's body, if it declares them. */
export const declaredLength = ({ rawHeaders }: IncomingMessage): number | undefined => {
  const [length] = valuesOf(rawHeaders, 'content-length')
  return length === undefined ? undefined : Number(length)
}

const ownContentType = (action: ForwardAction, list: HeaderList): string | undefined =>
  action.headers === undefined ? undefined : headerOf(list, 'content-type')

const headerOf = (list: HeaderList, name: string): string | undefined => {
  for (let at = 0; at + 1 < list.length; at += 2) if (list[at] === name) return list[at + 1]
  return undefined
}

const removeHeader = (list: HeaderList, name: string): void => {
  for (let at = list.length - 2; at >= 0; at -= 2) if (list[at] === name) list.splice(at, 2)
}
