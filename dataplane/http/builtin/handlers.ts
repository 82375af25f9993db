// Calls OpenID Connect and OAuth 2 for the built-in endpoints: it converts a routed request to the plain one that
// they take, with its body, which is bounded in size and time.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { MemoryBudget } from '../../memory/memory-budget.ts'
import type { OAuth2 } from '../../oauth2/oauth2-endpoint.ts'
import type { Oidc } from '../../oidc/oidc-endpoint.ts'
import { readAuthorization } from '../../security/schemes/authorization-header.ts'
import type { ParsedCookies } from '../../security/parsed-cookies.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { RoutedBuiltinRequest } from './builtin-request.ts'
import { callerOf } from '../authenticate-request.ts'
import { checkDeclaredLength, readBody } from '../request/body.ts'
import { hasBody } from '../request/head.ts'
import type { EndpointResponse } from './respond.ts'

/** The rooms behind the endpoints, loaded at first use. */
export interface Rooms {
  readonly loadOidc: () => Promise<Oidc>
  readonly loadOAuth2: () => Promise<OAuth2>
  /** `--base-url`. */
  readonly ownOrigin: string | undefined
}

/** A request as the router has matched it. */
export interface Routed {
  readonly builtinRequest: RoutedBuiltinRequest
  /** Bindings of the route, decoded. */
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly cookies: ParsedCookies
}

/**
 * Rejects with an error that becomes an error record. @returns undefined if the client has disconnected: there is
 * nothing to respond to
 */
export type EndpointTask = (routed: Routed) => Promise<EndpointResponse | undefined>

export const oidcTask =
  ({ loadOidc, ownOrigin }: Rooms, name: keyof Oidc): EndpointTask =>
  async ({ builtinRequest, params, cookies }) => {
    const { incomingRequest, dispatch, version, route } = builtinRequest
    const body =
      incomingRequest.request.method === 'POST'
        ? await readForm(incomingRequest, dispatch.memory)
        : ''
    if (body === undefined) return undefined
    const { provider } = params
    return (await loadOidc())[name]({
      method: incomingRequest.request.method ?? '',
      path: incomingRequest.head.target.path,
      query: incomingRequest.head.target.query,
      headers: incomingRequest.request.headers,
      cookies,
      address: callerOf(incomingRequest).address,
      requestId: incomingRequest.id,
      ownOrigin,
      realmUri: version.realmUri,
      routeProvider: route.endpoint.type === 'oidc' ? route.endpoint.provider : 'default',
      pathProvider: typeof provider === 'string' ? provider : undefined,
      body,
    })
  }

export const oauthTask =
  ({ loadOAuth2 }: Rooms, name: keyof OAuth2): EndpointTask =>
  async ({ builtinRequest: { incomingRequest, dispatch, version, route } }) => {
    const body = await readText(incomingRequest, dispatch.memory)
    if (body === undefined) return undefined
    const { address, isAddressKnown } = callerOf(incomingRequest)
    return (await loadOAuth2())[name]({
      query: incomingRequest.head.target.query,
      headers: headersOf(incomingRequest.request),
      body,
      address,
      isAddressKnown,
      requestId: incomingRequest.id,
      realmUri: version.realmUri,
      flows: route.flows,
    })
  }

/** Node keeps the first of two `Authorization` headers; a proxy in front may have checked the other. */
const headersOf = ({ headers, rawHeaders }: IncomingMessage): IncomingHttpHeaders =>
  readAuthorization(rawHeaders)?.scheme === '' ? { ...headers, authorization: '' } : headers

/** Like `readText` if the body is a form; any other body is not read and counts as empty. */
const readForm = async (
  incomingRequest: IncomingRequest,
  memory: MemoryBudget,
): Promise<string | undefined> =>
  FORM.test(incomingRequest.head.contentType ?? '') ? readText(incomingRequest, memory) : ''

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i

const LIMITS = { maxBytes: 65_536, readBytes: 65_536, readMs: 15_000 }

/**
 * `""` without a body. Rejects with 413, 408 or 503.
 * @returns undefined if the client has disconnected
 */
const readText = async (
  { request, response, head }: IncomingRequest,
  memory: MemoryBudget,
): Promise<string | undefined> => {
  if (!hasBody(head)) return ''
  const tooLong = checkDeclaredLength(head, LIMITS)
  if (tooLong !== undefined) throw tooLong
  const holding = memory.open(request.socket)
  response.once('close', () => {
    holding.release()
  })
  return new Promise((resolve, reject) => {
    const policy = { limits: LIMITS, declaredLength: head.contentLength, holding }
    readBody(request, policy, (result, bytes) => {
      if (result === 'gone') resolve(undefined)
      else if (result === undefined) resolve(bytes.toString())
      else reject(result)
    })
  })
}
