// Lists what may happen to a request between its match and its action, in order, and runs it. A step is one row: nothing
// else decides what a request must pass.

import { describesRequests } from '../../../language/compile/compiled.ts'
import { ANONYMOUS, isAnonymous } from '../../../language/compile/security.ts'
import { isForged } from '../../../language/forgeable-callers.ts'
import {
  describeAccepted,
  EVENT_STREAM,
  isReadType,
  isServedType,
  isUntyped,
  isWithBody,
  type TakenTypes,
} from '../../../language/routes/negotiate.ts'
import type { DecisionStep } from '../../decisions/decision.ts'
import { GatewayError } from '../../gateway-error.ts'
import { notAcceptable } from '../errors.ts'
import type { OperationShape } from '../operation-shape.ts'
import type { LimitTime, PreparedLimits } from '../rate-limits/prepare-limits.ts'
import { checkDeclaredLength } from '../request/body.ts'
import { readableCodings, unreadableCoding } from '../request/content-coding.ts'
import { hasBody } from '../request/head.ts'
import { invalidRequest, NO_BODY } from '../request/request-check.ts'
import type { HeaderList } from '../response/headers.ts'
import type { RenderedResponse } from '../response/plan.ts'
import type {
  Door,
  Doors,
  DoorStep,
  RequestStep,
  StepRequest,
  StepResult,
  UnservedRequest,
  CheckResult,
} from './request-step.ts'

/** Makes a step of paths that have no operation for a request: which of them is for it follows from what they lack. */
const ofPath = (
  name: DecisionStep,
  isFor: (unserved: UnservedRequest) => boolean,
  check: (unserved: UnservedRequest) => StepResult,
): RequestStep => ({
  name,
  isMetByFixed: true,
  doors: {
    http: 'none',
    webSocket: 'none',
    path: {
      isFor,
      check: (_request, unserved) => check(unserved),
    },
  },
})

const PREFLIGHT_VARY = 'access-control-request-method, access-control-request-headers'

/** Before anything that may refuse it: browsers send no credentials with it, and need a 204. */
const PREFLIGHT = ofPath(
  'method',
  ({ isPreflight }) => isPreflight,
  (unserved) => ({
    status: 204,
    headers: [...withAllow(unserved), ['vary', PREFLIGHT_VARY]],
    contentType: undefined,
    body: '',
  }),
)

/** Before all that a path asks for: nothing of it is served over http. */
const REDIRECT = ofPath(
  'scheme',
  ({ lacks }) => lacks === 'scheme',
  (unserved) => unserved.redirect(),
)

const SCHEME = ofPath(
  'scheme',
  ({ lacks }) => lacks === 'scheme',
  ({ schemes }) =>
    new GatewayError('svc.error.not_found', 'Nothing is served here over this scheme', {
      description: `This path is served over ${schemes}.`,
    }),
)

const withAllow = (unserved: UnservedRequest): HeaderList => [
  ...unserved.headers().filter(([name]) => name !== 'allow'),
  ['allow', unserved.allow],
]

/** Not declared: the methods and headers of the path, so that documents can allow what browsers ask for. */
const OPTIONS = ofPath(
  'method',
  ({ lacks }) => lacks === 'OPTIONS',
  (unserved) => ({
    status: 204,
    headers: withAllow(unserved),
    contentType: undefined,
    body: '',
  }),
)

const METHOD = ofPath(
  'method',
  ({ lacks }) => lacks === 'method',
  ({ allow }) =>
    new GatewayError('svc.error.method_not_allowed', 'This path does not serve that method', {
      description: `It serves ${allow}.`,
      headers: { allow },
    }),
)

/** First: which pages may connect is no secret, and costs nothing to find out. */
const ORIGIN: RequestStep = {
  name: 'authenticate',
  isMetByFixed: true,
  doors: {
    http: {
      isFor: ({ takesWebSocket }) => takesWebSocket,
      check: (request, { guard }) => request.checkOrigin(guard ?? ANONYMOUS),
    },
    webSocket: {
      isFor: () => true,
      check: (request, { security }) => request.checkOrigin(security),
    },
    path: 'none',
  },
}

/** The handshake at `/ws` is read together with the sub-protocols of WAMP that it offers. */
const HANDSHAKE: RequestStep = {
  name: ({ code }) => (code === 'svc.error.overloaded' ? 'limit' : 'upgrade'),
  isMetByFixed: true,
  doors: {
    http: {
      isFor: ({ method, action }) => method === 'get' && action === 'forward',
      check: (request, { takesWebSocket }) => request.checkHandshake(takesWebSocket),
    },
    webSocket: 'none',
    path: 'none',
  },
}

/** Requests that only ask what is allowed here are never counted. */
const limits = (when: LimitTime): RequestStep => ({
  name: 'limit',
  isMetByFixed: false,
  doors: {
    http: {
      isFor: ({ method, rateLimits }) => method !== 'options' && hasAny(rateLimits, when),
      check: (request, { rateLimits, guard = ANONYMOUS }) =>
        rateLimits && request.limit(rateLimits, when, guard),
    },
    webSocket: {
      isFor: ({ rateLimits }) => hasAny(rateLimits, when),
      check: (request, { rateLimits, security }) =>
        rateLimits && request.limit(rateLimits, when, security),
    },
    path: 'none',
  },
})

const hasAny = (rateLimits: PreparedLimits | undefined, when: LimitTime): boolean =>
  rateLimits !== undefined && rateLimits[when].length > 0

/** They protect logins and keys from being guessed. */
const LIMITS_OF_ANYBODY = limits('early')

const LIMITS_OF_CALLERS = limits('late')

const AUTHENTICATE: RequestStep = {
  name: ({ code, pointer }) => {
    if (code === 'svc.error.internal') return 'internal'
    // A signature is one of the whole request.
    if (code === 'svc.error.payload_too_large' || code === 'svc.error.request_timeout')
      return 'body'
    if (code === 'svc.error.too_many_requests' || code === 'svc.error.overloaded') return 'limit'
    return code === 'svc.error.forbidden' && pointer !== undefined ? 'requirements' : 'authenticate'
  },
  isMetByFixed: false,
  doors: {
    http: {
      isFor: ({ guard }) => guard !== undefined,
      // A preflight that performs nothing passes, whatever network it comes from.
      check: (request, { guard, action }) =>
        guard === undefined || (request.isPreflight && action === 'empty')
          ? undefined
          : request.authenticate(guard),
    },
    webSocket: {
      isFor: ({ security }) => !isAnonymous(security),
      check: (request, { security }) => request.authenticate(security),
    },
    path: 'none',
  },
}

/** Only a POST: browsers ask before they send any other method that changes something. */
const CROSS_SITE: RequestStep = {
  name: 'authenticate',
  isMetByFixed: false,
  doors: {
    http: {
      isFor: ({ isForgeable, method }) => isForgeable && method === 'post',
      check: ({ head: { contentType }, fetchSite }) =>
        isForged({ contentType, fetchSite }) ? crossSite() : undefined,
    },
    // Its Origin is checked.
    webSocket: 'none',
    path: 'none',
  },
}

const crossSite = (): GatewayError =>
  new GatewayError(
    'svc.error.forbidden',
    'A page of another site may not send this request with credentials of the browser',
    {
      description: 'Send it from a page of this site, or as application/json with CORS.',
      reason: 'cross_site',
      member: '',
    },
  )

/** A connection carries messages of the router, in sub-protocols of its own. */
const NEGOTIATE: RequestStep = {
  name: 'negotiate',
  isMetByFixed: true,
  doors: {
    http: {
      isFor: ({ checksAccept }) => checksAccept,
      check: (request, shape) =>
        request.isAcceptable ? undefined : notAcceptable(servedBy(shape)),
    },
    webSocket: 'none',
    path: 'none',
  },
}

const servedBy = ({ offers, hasEvents }: OperationShape): readonly string[] =>
  hasEvents ? [...offers, EVENT_STREAM] : offers

/** Makes a step of requests that have a body; those for WebSocket connections have none. */
const ofBody = (
  name: DecisionStep,
  isFor: DoorStep<OperationShape>['isFor'],
  check: DoorStep<OperationShape>['check'],
): RequestStep => ({
  name,
  isMetByFixed: true,
  doors: {
    http: {
      isFor,
      check: (request, shape) => (hasBody(request.head) ? check(request, shape) : undefined),
    },
    webSocket: 'none',
    path: 'none',
  },
})

const BODY_TYPE = ofBody(
  'negotiate',
  ({ method }) => isWithBody(method),
  ({ head: { contentType } }, shape) => {
    const goesUnread = shape.forwardsBody && !shape.needs.body
    if (isServedType(contentType, { ...typesOf(shape), goesUnread })) return undefined
    return unreadableType({ head: { contentType } }, shape)
  },
)

const unreadableType = (
  { head: { contentType } }: { readonly head: Pick<StepRequest['head'], 'contentType'> },
  shape: OperationShape,
): GatewayError =>
  new GatewayError(
    'svc.error.unsupported_media_type',
    isUntyped(contentType)
      ? 'The body has no Content-Type'
      : 'Bodies of this Content-Type are not accepted here',
    { description: describeAccepted(contentType, typesOf(shape)) },
  )

const typesOf = ({ method, accepts, isForgeable }: OperationShape): TakenTypes => ({
  method,
  accepts,
  isForgeable,
})

const BODY_CODING = ofBody(
  'negotiate',
  ({ needs }) => needs.body,
  ({ head, contentEncoding }, shape) =>
    decodesBody(head, shape) && readableCodings(contentEncoding) === undefined
      ? unreadableCoding()
      : undefined,
)

/** Before a byte of it is read. */
const BODY_LENGTH = ofBody(
  'body',
  () => true,
  ({ head }, { body }) => checkDeclaredLength(head, body),
)

/** The body is checked once it was read, and what is wrong with both is one answer. A preflight performs nothing. */
const SCHEMA: RequestStep = {
  name: 'schema',
  isMetByFixed: false,
  doors: {
    http: {
      isFor: ({ schema }) => describesRequests(schema),
      check: (request, shape) =>
        request.isPreflight && shape.action === 'empty' ? undefined : checkSchemas(request, shape),
    },
    webSocket: 'none',
    path: 'none',
  },
}

const checkSchemas = (request: StepRequest, shape: OperationShape): StepResult => {
  const { schema = {} } = shape
  const errors = request.checkHead(schema)
  if (schema.body === undefined) return errors.length === 0 ? undefined : invalidRequest(errors)
  if (!hasBody(request.head)) return invalidRequest([...errors, NO_BODY])
  return decodesBody(request.head, shape) ? undefined : unreadableType(request, shape)
}

/** In the order in which requests take them. */
const STEPS: readonly RequestStep[] = [
  PREFLIGHT,
  REDIRECT,
  SCHEME,
  OPTIONS,
  METHOD,
  ORIGIN,
  LIMITS_OF_ANYBODY,
  AUTHENTICATE,
  CROSS_SITE,
  LIMITS_OF_CALLERS,
  NEGOTIATE,
  BODY_TYPE,
  BODY_CODING,
  BODY_LENGTH,
  SCHEMA,
  HANDSHAKE,
]

/** Whether something reads the body, and its type is one that is decoded. */
export const decodesBody = ({ contentType }: StepRequest['head'], shape: OperationShape): boolean =>
  shape.needs.body && (isWithBody(shape.method) || isReadType(contentType, typesOf(shape)))

/** A step at one door, with its name. */
export interface NamedStep<Subject> extends DoorStep<Subject> {
  readonly name: RequestStep['name']
}

/** Those of one operation or request: the same list for all that have the same steps. */
const stepsAt = <D extends Door>(
  door: D,
): ((subject: Doors[D]) => readonly NamedStep<Doors[D]>[]) => {
  const rows = STEPS.flatMap(({ name, doors }) => {
    const step: DoorStep<Doors[D]> | 'none' = doors[door]
    return step === 'none' ? [] : [{ name, ...step }]
  })
  const lists = new Map<string, readonly NamedStep<Doors[D]>[]>()
  return (subject) => {
    const own = rows.filter((step) => step.isFor(subject))
    const key = own.map((step) => rows.indexOf(step)).join()
    const list = lists.get(key) ?? own
    lists.set(key, list)
    return list
  }
}

const stepsOfOperation = stepsAt('http')

export const stepsOfWebSocket = stepsAt('webSocket')

export const stepsOfPath = stepsAt('path')

/** With the steps that its requests take. */
export interface PreparedShape extends OperationShape {
  readonly steps: readonly NamedStep<OperationShape>[]
  /** Every step is met by requests that its fixed responses are for: these take the short cut. */
  readonly isQuick: boolean
}

/** What an operation has of the list. */
export const httpSteps = (shape: OperationShape): Pick<PreparedShape, 'steps' | 'isQuick'> => {
  const isMet = STEPS.every(
    ({ isMetByFixed, doors: { http } }) => isMetByFixed || http === 'none' || !http.isFor(shape),
  )
  return { steps: stepsOfOperation(shape), isQuick: shape.isFixed && isMet }
}

/** What to do next: exactly one of these is called, once. */
export interface Continuation {
  readonly proceed: () => void
  readonly refuse: (error: Error) => void
  /** The client disconnected while a step waited. */
  readonly abandon: () => void
  /** One of these has thrown after waiting; no other code sees the error. */
  readonly fail: (error: unknown) => void
}

/** The same for the list of steps, one of which may have answered the request. */
export interface StepContinuation extends Continuation {
  readonly answer: (rendered: RenderedResponse) => void
}

/** Goes on with what a step has found; synchronously where it did not wait. */
export const follow = (
  result: CheckResult | Promise<CheckResult>,
  isGone: () => boolean,
  then: Continuation,
): void => {
  const settle = (error: CheckResult): void => {
    if (error === undefined) then.proceed()
    else then.refuse(error)
  }
  if (!(result instanceof Promise)) settle(result)
  else
    result
      .then((late) => {
        if (isGone()) then.abandon()
        else settle(late)
      })
      .catch(then.fail)
}

/** Takes the steps one after the other, until one refuses or answers. */
export const takeSteps = <Subject>(
  steps: readonly NamedStep<Subject>[],
  request: StepRequest,
  subject: Subject,
  then: StepContinuation,
): void => {
  let taken = 0
  for (const step of steps) {
    taken++
    const result = step.check(request, subject)
    if (result === undefined) continue
    if (!(result instanceof Error) && !(result instanceof Promise)) {
      then.answer(result)
      return
    }
    const proceed = (): void => {
      takeSteps(steps.slice(taken), request, subject, then)
    }
    const refuse = (error: Error): void => {
      then.refuse(named(error, step.name))
    }
    follow(result, () => request.isGone, { ...then, proceed, refuse })
    return
  }
  then.proceed()
}

const named = (error: Error, name: RequestStep['name']): Error => {
  if (error instanceof GatewayError) error.step = typeof name === 'function' ? name(error) : name
  return error
}
