// Writes what an action reports to a response that is a stream of events: each result becomes bytes of the response,
// and the stream ends exactly once, whichever side ends it.

import type { StatusCodes } from '../../../language/compile/compiled.ts'
import type { ActionError, EventSink, OutgoingEvent } from '../../actions/performer.ts'
import type { Context } from '../../context.ts'
import type { GatewayErrorCode } from '../../gateway-error.ts'
import { viewError } from '../action-error.ts'
import { toGatewayError } from '../errors.ts'
import { errorRecord } from '../../error-record.ts'
import { toJson } from '../../../language/expression/json.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { BUDGET, type EventPlan } from './mapping.ts'
import { type EventBytes, type EventOutput, toEventBytes } from './writer.ts'
import { BEATS, type EventStreams, type OpenEventStream } from './registry.ts'
import { formatComment, formatEvent } from './format.ts'

/**
 * `action`: the action ended it. `fault`: its next `send` returns false. `shutdown`, `client`: the action must be
 * notified.
 */
export type EndedBy = 'action' | 'fault' | 'client' | 'shutdown'

export interface StreamEnd {
  readonly by: EndedBy
  /** The length of the body. */
  readonly bytes: number
  /** The code of the error record, if an expression failed, or the action failed unexpectedly. */
  readonly refusal?: GatewayErrorCode
  /** The error behind `refusal`. */
  readonly error?: unknown
}

export interface EventSinkDeps {
  readonly output: EventOutput
  readonly plan: EventPlan
  readonly context: Context
  readonly statusCodes: StatusCodes
  readonly streams: EventStreams
  readonly requestId: string
  /** Called once. */
  readonly onEnd: (end: StreamEnd) => void
}

const HEARTBEAT = toEventBytes(formatComment(''))

export class HttpEventSink implements EventSink, OpenEventStream {
  readonly #deps: EventSinkDeps
  #isOver = false
  /** Heartbeat parts since something was sent. */
  #silence = 0

  constructor(deps: EventSinkDeps) {
    this.#deps = deps
    deps.streams.add(this)
  }

  send(event: OutgoingEvent): boolean {
    if (this.#isOver) return false
    const { plan, context } = this.#deps
    try {
      return this.#write(plan.write(event, context))
    } catch (error) {
      this.refuse(error)
      return false
    }
  }

  fail(failure: ActionError): void {
    if (this.#isOver) return
    const { plan, context, statusCodes } = this.#deps
    const { error } = viewError(failure, statusCodes)
    context.action = { error }
    context.budget = BUDGET
    context.work = undefined
    try {
      this.#sendFailure(
        plan.failure?.(context) ?? this.#recordText(failure.error_uri, failure.message),
      )
    } catch (cause) {
      this.refuse(cause)
      return
    }
    this.#finish({ by: 'action' })
  }

  comment(text: string): void {
    if (!this.#isOver) this.#write(toEventBytes(formatComment(text)))
  }

  end(): void {
    this.#finish({ by: 'action' })
  }

  /** An expression failed, or the action did: the client gets the error record as its last event. */
  refuse(error: unknown): void {
    if (this.#isOver) return
    const { code, message, description } = toGatewayError(error, this.#deps.requestId)
    this.#sendFailure(this.#recordText(code, message, description))
    this.#finish({ by: 'fault', refusal: code, error })
  }

  /** The client has disconnected. */
  abandon(): void {
    this.#close({ by: 'client' })
  }

  beat(): void {
    if (++this.#silence >= BEATS && this.#deps.output.isIdle) this.#write(HEARTBEAT)
  }

  shutDown(): void {
    if (!this.#deps.plan.isEndless) return
    this.comment('the gateway is shutting down')
    this.#finish({ by: 'shutdown' })
  }

  #write(bytes: EventBytes): boolean {
    const { output, streams } = this.#deps
    this.#silence = 0
    if (output.write(bytes)) return true
    if (!output.isGone) streams.cutOff()
    output.destroy()
    this.#close({ by: 'fault' })
    return false
  }

  #recordText(code: string, message: string, description = ''): string {
    const record = errorRecord(code, message, description)
    return toJson({ ...record, request_id: this.#deps.requestId } as unknown as ValueMap)
  }

  #sendFailure(data: string): void {
    this.#write(toEventBytes(formatEvent({ name: 'failure', data })))
  }

  #finish(end: Omit<StreamEnd, 'bytes'>): void {
    if (this.#isOver) return
    this.#deps.output.end()
    this.#close(end)
  }

  #close(end: Omit<StreamEnd, 'bytes'>): void {
    if (this.#isOver) return
    this.#isOver = true
    const { output, streams, onEnd } = this.#deps
    output.discard()
    streams.remove(this)
    onEnd({ ...end, bytes: output.bytes })
  }
}
