// Lists what may happen to a request between its match and its action, in order, and runs it. A step is one row: nothing
// else decides what a request must pass.

import {
  EVENT_STREAM,
  isAcceptedType,
  isServedType,
  isWithBody,
} from '../../../language/routes/negotiate.ts'
import { GatewayError } from '../../gateway-error.ts'
import { notAcceptable } from '../errors.ts'
import type { OperationShape } from '../operation-shape.ts'
import { checkDeclaredLength } from '../request/body.ts'
import { readableCodings, unreadableCoding } from '../request/content-coding.ts'
import { hasBody } from '../request/head.ts'
import type { Door, Doors, DoorStep, RequestStep, StepRequest, Verdict } from './request-step.ts'

const AUTHENTICATE: RequestStep = {
  isMetByFixed: false,
  doors: {
    http: {
      isFor: ({ guard }) => guard !== undefined,
      check: (request, { guard }) => guard && request.authenticate(guard),
    },
    webSocket: {
      isFor: ({ security }) => security.type !== 'anonymous',
      check: (request, { security }) =>
        security.type === 'anonymous' ? undefined : request.authenticate(security),
    },
  },
}

/** A connection carries messages of the router, in sub-protocols of its own. */
const NEGOTIATE: RequestStep = {
  isMetByFixed: true,
  doors: {
    http: {
      isFor: ({ checksAccept }) => checksAccept,
      check: (request, shape) =>
        request.isAcceptable ? undefined : notAcceptable(servedBy(shape)),
    },
    webSocket: 'none',
  },
}

const servedBy = ({ offers, hasEvents }: OperationShape): readonly string[] =>
  hasEvents ? [...offers, EVENT_STREAM] : offers

/** Of requests that have a body; those for WebSocket connections have none. */
const ofBody = (
  isFor: DoorStep<OperationShape>['isFor'],
  check: DoorStep<OperationShape>['check'],
): RequestStep => ({
  isMetByFixed: true,
  doors: {
    http: {
      isFor,
      check: (request, shape) => (hasBody(request.head) ? check(request, shape) : undefined),
    },
    webSocket: 'none',
  },
})

const BODY_TYPE = ofBody(
  ({ method }) => isWithBody(method),
  ({ head: { contentType } }, { method, accepts, forwardsBody, needs }) => {
    const goesUnread = forwardsBody && !needs.body
    if (isServedType(contentType, { method, accepts, goesUnread })) return undefined
    return new GatewayError(
      'svc.error.unsupported_media_type',
      contentType === undefined
        ? 'The body has no Content-Type'
        : 'Bodies of this Content-Type are not accepted here',
      { description: `This operation accepts ${accepts.join(', ')}.` },
    )
  },
)

const BODY_CODING = ofBody(
  ({ needs }) => needs.body,
  ({ head, contentEncoding }, shape) =>
    decodesBody(head, shape) && readableCodings(contentEncoding) === undefined
      ? unreadableCoding()
      : undefined,
)

/** Before a byte of it is read. */
const BODY_LENGTH = ofBody(
  () => true,
  ({ head }, { bodyLimits }) => checkDeclaredLength(head, bodyLimits),
)

/** In the order in which requests take them. */
const STEPS: readonly RequestStep[] = [AUTHENTICATE, NEGOTIATE, BODY_TYPE, BODY_CODING, BODY_LENGTH]

/** Whether something reads the body, and its type is one that is decoded. */
export const decodesBody = (
  { contentType }: StepRequest['head'],
  { needs, method, accepts }: OperationShape,
): boolean => needs.body && (isWithBody(method) || isAcceptedType(contentType, accepts))

/** Those of one operation or connection: the same list for all that have the same steps. */
const stepsAt = <D extends Door>(
  door: D,
): ((subject: Doors[D]) => readonly DoorStep<Doors[D]>[]) => {
  const rows: readonly (DoorStep<Doors[D]> | 'none')[] = STEPS.map(({ doors }) => doors[door])
  const lists = new Map<string, readonly DoorStep<Doors[D]>[]>()
  return (subject) => {
    const own = rows.filter((step) => step !== 'none').filter((step) => step.isFor(subject))
    const key = own.map((step) => rows.indexOf(step)).join()
    const list = lists.get(key) ?? own
    lists.set(key, list)
    return list
  }
}

const stepsOfOperation = stepsAt('http')

export const stepsOfWebSocket = stepsAt('webSocket')

/** With the steps that its requests take. */
export interface PreparedShape extends OperationShape {
  readonly steps: readonly DoorStep<OperationShape>[]
  /** Every step is met by requests that its fixed responses are for: these take the short cut. */
  readonly isQuick: boolean
}

/** What an operation has of the list. */
export const httpSteps = (shape: OperationShape): Pick<PreparedShape, 'steps' | 'isQuick'> => {
  const steps = stepsOfOperation(shape)
  const isMet = STEPS.every(
    ({ isMetByFixed, doors: { http } }) => isMetByFixed || http === 'none' || !steps.includes(http),
  )
  return { steps, isQuick: shape.isFixed && isMet }
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

/** Goes on with what a step has found; synchronously where it did not wait. */
export const follow = (
  verdict: Verdict | Promise<Verdict>,
  isGone: () => boolean,
  then: Continuation,
): void => {
  const settle = (error: Verdict): void => {
    if (error === undefined) then.proceed()
    else then.refuse(error)
  }
  if (!(verdict instanceof Promise)) settle(verdict)
  else
    verdict
      .then((late) => {
        if (isGone()) then.abandon()
        else settle(late)
      })
      .catch(then.fail)
}

/** Takes the steps one after the other, until one refuses. */
export const takeSteps = <Subject>(
  steps: readonly DoorStep<Subject>[],
  request: StepRequest,
  subject: Subject,
  then: Continuation,
): void => {
  let taken = 0
  for (const step of steps) {
    taken++
    const verdict = step.check(request, subject)
    if (verdict === undefined) continue
    const proceed = (): void => {
      takeSteps(steps.slice(taken), request, subject, then)
    }
    follow(verdict, () => request.isGone, { ...then, proceed })
    return
  }
  then.proceed()
}
