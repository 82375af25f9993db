// Performs a WAMP operation that is represented by a promise, with a permit and within its deadline, and reports its
// result exactly once. A result that arrives after its end is undone, as no client knows of it.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { Exchange } from '../performer.ts'
import { failExchange, failOverdue, failOverloaded } from './failure.ts'
import { OperationLifetime, type LifetimeDeps } from './operation-lifetime.ts'

export interface OperationSteps<T> {
  /** The URI it is about, for messages. */
  readonly subject?: string
  /** Rejects with a WampError. */
  start(): Promise<T>
  /** What `action.result` is. */
  view(done: T): ValueMap
  /** Undoes an operation that succeeded after time was up or the client had disconnected. Its own result is ignored. */
  undo?(done: T): Promise<unknown>
}

export interface OperationTimes {
  readonly timeoutMs: number
  /** How long to wait for a session that is being opened; 0: it needs none. */
  readonly connectTimeoutMs: number
}

export const runOperation = <T>(
  exchange: Exchange,
  tools: LifetimeDeps,
  { timeoutMs, connectTimeoutMs }: OperationTimes,
  steps: OperationSteps<T>,
): void => {
  const lifetime = new OperationLifetime(exchange, tools, {
    onOverdue: () => {
      failOverdue(exchange)
    },
    onGone: () => undefined,
  })
  if (!lifetime.begin(timeoutMs)) {
    failOverloaded(exchange)
    return
  }
  // Async, so that a synchronous throw is a rejection like all others.
  const start = async (): Promise<T> => steps.start()
  lifetime.whenJoined(connectTimeoutMs, () => {
    void start().then(
      (done) => {
        if (lifetime.end()) exchange.succeed(steps.view(done))
        else steps.undo?.(done).catch(() => undefined)
      },
      (error: unknown) => {
        if (lifetime.end()) failExchange(exchange, error, steps.subject)
      },
    )
  })
}
