// Checks the headers of a request against what an operation demands: credentials (whether there are any), Accept,
// Content-Type and the declared length of the body. Messages name no value of the request.

import { actionResponse } from '../compile/action.ts'
import {
  authSchemesOf,
  type CompiledSecurity,
  isAnonymous,
  type SecurityScheme,
} from '../compile/security.ts'
import type { CompiledOperation } from '../compile/compiled.ts'
import { readsBody } from '../compile/unsuitable-types.ts'
import type { Method } from '../document.ts'
import { isForgeable, isForged } from '../forgeable-callers.ts'
import {
  describeAccepted,
  EVENT_STREAM,
  isServedType,
  isUntyped,
  orderOffers,
  pickContentType,
  rateEventStream,
} from '../routes/negotiate.ts'
import { findCredentials } from '../request-credentials.ts'
import type { Check, ExplainedResult } from './explanation.ts'
import { headerOf, type ReadRequest } from './read-request.ts'

interface Checked {
  readonly check: Check
  /** undefined: the next step follows. */
  readonly verdict?: ExplainedResult
}

/** No credentials are verified: only whether there are any of the kind that is asked for. */
export const checkCredentials = (
  request: ReadRequest,
  security: CompiledSecurity,
  { realmUri }: { readonly realmUri: string },
): Checked => {
  const where = networksText(security)
  const check = (result: Check['result'], message: string): Check => ({
    name: 'security',
    result: where !== '' && result === 'pass' ? 'unknown' : result,
    message: message + where,
  })
  if (isAnonymous(security)) return { check: check('pass', 'no credentials are asked for') }
  const schemes = authSchemesOf(security)
  const signed = schemes.find((each) => each.type === 'hmac')
  const found = presentIn(request, security)
  if (found.length > 0)
    return {
      check: check(
        'unknown',
        `there is ${found.map((each) => neededBy(each)).join(' and ')}, which realm ${realmUri} verifies; not checked here`,
      ),
    }
  if (signed !== undefined)
    return {
      check: check(
        'unknown',
        `it depends on ${schemes.map((each) => neededBy(each)).join(', or ')}: where a signature stands only realm ${realmUri} says`,
      ),
    }
  if (schemes.length < security.length)
    return { check: check('pass', 'there are no credentials, and none are needed') }
  const message = `${schemes.map((each) => `${each.type} needs ${neededBy(each)}`).join(', or ')}, and the request has none`
  if (isRedirected(request, security))
    return {
      check: check('fail', message),
      verdict: {
        outcome: 'rejected',
        status: 302,
        code: 'svc.error.unauthorized',
        step: 'authenticate',
        message: `${message}: the browser is redirected to the login`,
      },
    }
  return {
    check: check('fail', message),
    verdict: {
      outcome: 'rejected',
      status: 401,
      code: 'svc.error.unauthorized',
      step: 'authenticate',
      message,
    },
  }
}

const networksText = (security: CompiledSecurity): string =>
  security.some(({ networks }) => networks !== undefined)
    ? '; it depends on networks too: the address is that of the connection or of its PROXY header, or what a proxy of --trusted-proxies says, and is not known here'
    : ''

/** Those whose credentials are there; of a cookie it is not known whether it is a ticket. */
const presentIn = (request: ReadRequest, security: CompiledSecurity): readonly SecurityScheme[] => {
  const found = findCredentials(security, (name) => request.headers.get(name) ?? [])
  return found.source === 'header' || request.headers.has('cookie') ? found.schemes : []
}

const neededBy = (scheme: SecurityScheme): string =>
  scheme.type === 'hmac' && scheme.replays === 'pass'
    ? `${NEEDED.hmac}, which has no timestamp, so that nothing is remembered and the same request may come again`
    : NEEDED[scheme.type]

const BEARER = 'a token in Authorization: Bearer'

const NEEDED: Readonly<Record<SecurityScheme['type'], string>> = {
  basic: 'user and password in Authorization: Basic',
  api_key: 'a key in the header that its header_name says',
  oauth2: BEARER,
  oidc: `a ticket in a cookie, or ${BEARER}`,
  hmac: 'a signature of the whole request',
}

const isRedirected = (request: ReadRequest, security: CompiledSecurity): boolean =>
  security.some((each) => each.type === 'oidc' && each.unauthenticated === 'redirect') &&
  request.method === 'GET' &&
  !request.headers.has('authorization') &&
  headerOf(request, 'sec-fetch-mode') === 'navigate' &&
  headerOf(request, 'sec-fetch-dest') === 'document'

export const checkResponseType = (request: ReadRequest, operation: CompiledOperation): Checked => {
  const accept = headerOf(request, 'accept')
  const response = actionResponse(operation)
  const offers = orderOffers(operation.provides)
  const picked = pickContentType(accept, offers)
  const check = (result: Check['result'], message: string): Check => ({
    name: 'accept',
    result,
    message,
  })
  if (!response.checksAccept)
    return {
      check: check('pass', 'the response of the upstream passes through, whatever Accept says'),
    }
  if (picked !== undefined) return { check: check('pass', `the response is ${picked}`) }
  const hasEvents = response.events !== 'none'
  if (hasEvents && rateEventStream(accept, offers) !== 'refused')
    return { check: check('pass', `the response is ${EVENT_STREAM}`) }
  const types = hasEvents ? [...offers, EVENT_STREAM] : offers
  const message = `Accept admits none of what this operation provides: ${types.join(', ')}`
  return {
    check: check('fail', message),
    verdict: {
      outcome: 'rejected',
      status: 406,
      code: 'svc.error.not_acceptable',
      step: 'negotiate',
      message,
    },
  }
}

/** undefined: no browser would say of it that a page of another site asks, or its credentials must be added by the page. */
export const checkSite = (
  request: ReadRequest,
  { security }: CompiledOperation,
  method: Method,
): Checked | undefined => {
  const sent = {
    contentType: headerOf(request, 'content-type'),
    fetchSite: headerOf(request, 'sec-fetch-site'),
  }
  if (method !== 'post' || !isForgeable(security) || !isForged(sent)) return undefined
  const message =
    'a page of another site sends it, with credentials that the browser adds by itself'
  return {
    check: { name: 'security', result: 'fail', message },
    verdict: {
      outcome: 'rejected',
      status: 403,
      code: 'svc.error.forbidden',
      step: 'authenticate',
      message,
    },
  }
}

export const checkBody = (
  request: ReadRequest,
  operation: CompiledOperation,
  method: Method,
): Checked => {
  const check = (result: Check['result'], message: string): Check => ({
    name: 'body',
    result,
    message,
  })
  if (!request.hasBody) return { check: check('pass', 'no body is announced') }
  const contentType = headerOf(request, 'content-type')
  const { accepts, security, body } = operation
  const taken = { method, accepts, isForgeable: isForgeable(security) }
  const goesUnread = actionResponse(operation).takesBody && !readsBody(operation)
  if (!isServedType(contentType, { ...taken, goesUnread })) {
    const what = isUntyped(contentType)
      ? 'the body has no Content-Type'
      : 'this Content-Type is not accepted'
    return refused(
      check,
      415,
      'svc.error.unsupported_media_type',
      `${what}. ${describeAccepted(contentType, taken).replace(/\.$/, '')}`,
    )
  }
  const length = Number(request.headers.get('content-length')?.[0] ?? 0)
  if (length > body.maxBytes)
    return refused(
      check,
      413,
      'svc.error.payload_too_large',
      `the body is longer than ${body.maxBytes} bytes (body_max_bytes)`,
    )
  return { check: check('pass', 'type and declared length are accepted') }
}

const refused = (
  check: (result: Check['result'], message: string) => Check,
  status: number,
  code: string,
  message: string,
): Checked => ({
  check: check('fail', message),
  verdict: {
    outcome: 'rejected',
    status,
    code,
    step: status === 413 ? 'body' : 'negotiate',
    message,
  },
})

/** Checks a request for a WebSocket connection that a forward takes, or does not. */
export const checkUpgrade = (
  isTaken: boolean,
): { readonly check: Check; readonly verdict: ExplainedResult } =>
  isTaken
    ? {
        check: { name: 'upgrade', result: 'unknown', message: 'upgrade has websocket' },
        verdict: {
          outcome: 'served',
          status: 101,
          message:
            'The action forward carries a WebSocket, if Origin and the handshake are allowed and the upstream switches to it',
        },
      }
    : {
        check: {
          name: 'upgrade',
          result: 'fail',
          message: 'the action has no upgrade: [websocket]',
        },
        verdict: {
          outcome: 'rejected',
          status: 400,
          code: 'svc.error.invalid_data',
          step: 'upgrade',
          message: 'This path takes no WebSocket connections',
        },
      }
