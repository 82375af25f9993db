// An exchange that writes down what an action reports, for tests of actions that touch no network.

import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type {
  ActionError,
  EventSink,
  Exchange,
  OutgoingEvent,
} from '../../../dataplane/actions/performer.ts'
import type { RequestFailure } from '../../../dataplane/actions/request-failure.ts'
import { NO_AUTHORITY } from '../../../language/routes/authority.ts'
import { Context } from '../../../dataplane/context.ts'
import { createUnboundedMemory } from '../../../dataplane/memory/memory-budget.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

export interface Probe extends Exchange {
  readonly results: ValueMap[]
  readonly failures: ActionError[]
  readonly refusals: Error[]
  readonly explanations: RequestFailure[]
  /** One per call of `events`. */
  readonly streams: ProbeStream[]
  /** What has been given to `onCancel` last. */
  readonly cancel: (() => void) | undefined
}

/** What went to a stream of events; `isOpen` may be set to false: the client has gone. */
export interface ProbeStream {
  readonly result: ValueMap
  readonly sent: OutgoingEvent[]
  readonly comments: string[]
  failure: ActionError | undefined
  isOpen: boolean
}

export interface ProbeOptions {
  readonly eventStreams?: Exchange['eventStreams']
  /** `events` gives undefined. */
  readonly refusesEvents?: boolean
}

export const probeExchange = (
  request: Readonly<Record<string, unknown>> = {},
  { eventStreams = 'accepted', refusesEvents = false }: ProbeOptions = {},
): Probe => {
  const context = new Context()
  Object.assign(context.request, request)
  const results: ValueMap[] = []
  const failures: ActionError[] = []
  const refusals: Error[] = []
  const explanations: RequestFailure[] = []
  const streams: ProbeStream[] = []
  let cancel: (() => void) | undefined
  return {
    context,
    incoming: new IncomingMessage(new Socket()),
    memory: createUnboundedMemory().open(),
    authority: NO_AUTHORITY,
    from: undefined,
    rawBody: undefined,
    webSocket: undefined,
    switchTo: () => undefined,
    results,
    failures,
    refusals,
    streams,
    get cancel() {
      return cancel
    },
    explanations,
    succeed: (result) => results.push(result),
    explain: (failure) => explanations.push(failure),
    fail: (error) => failures.push(error),
    refuse: (error) => {
      refusals.push(error)
      throw error
    },
    stream: () => undefined,
    hintEarly: () => undefined,
    eventStreams,
    events: (result) => {
      if (refusesEvents) return undefined
      const stream: ProbeStream = {
        result,
        sent: [],
        comments: [],
        failure: undefined,
        isOpen: true,
      }
      streams.push(stream)
      return sinkOf(stream)
    },
    defer: (work) => {
      work()
    },
    onCancel: (next) => {
      cancel = next
    },
  }
}

const sinkOf = (stream: ProbeStream): EventSink => ({
  send: (event) => {
    if (stream.isOpen) stream.sent.push(event)
    return stream.isOpen
  },
  fail: (error) => {
    if (stream.isOpen) stream.failure = error
    stream.isOpen = false
  },
  comment: (text) => {
    if (stream.isOpen) stream.comments.push(text)
  },
  end: () => {
    stream.isOpen = false
  },
})
