// A WAMP operation that a promise stands for, from its exchange to its outcome: with a permit and within
// its deadline, reported exactly once. What comes after its end is undone, for nobody knows of it.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { Exchange } from '../performer.ts'
import { failExchange, overdueError, overloadedError } from './failure.ts'
import { Span, type SpanTools } from './operation-lifetime.ts'

export interface OperationSteps<T> {
  /** The URI it is about, for messages. */
  readonly subject?: string
  /** Rejects with a WampFault. */
  start(): Promise<T>
  /** What `action.result` is. */
  view(done: T): ValueMap
  /** It is done, but time was up or the client had left. Nobody hears whether this succeeds. */
  undo?(done: T): Promise<unknown>
}

export interface OperationTimes {
  readonly timeoutMs: number
  /** For a session that is being opened; 0: it needs none. */
  readonly connectTimeoutMs: number
}

export const runOperation = <T>(
  exchange: Exchange,
  tools: SpanTools,
  { timeoutMs, connectTimeoutMs }: OperationTimes,
  steps: OperationSteps<T>,
): void => {
  const span = new Span(exchange, tools, {
    onOverdue: () => {
      exchange.fail(overdueError(exchange.context.status_codes))
    },
    onGone: () => undefined,
  })
  if (!span.begin(timeoutMs)) {
    exchange.fail(overloadedError(exchange.context.status_codes))
    return
  }
  // Async: what is thrown at once is a rejection like all others.
  const start = async (): Promise<T> => steps.start()
  span.whenJoined(connectTimeoutMs, () => {
    void start().then(
      (done) => {
        if (span.end()) exchange.succeed(steps.view(done))
        else steps.undo?.(done).catch(() => undefined)
      },
      (error: unknown) => {
        if (span.end()) failExchange(exchange, error, steps.subject)
      },
    )
  })
}
