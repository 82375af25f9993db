// Runs the handlers of a session's invocations and sends the result or error back as YIELD or ERROR, once. It does not
// know what is registered.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Outbox } from './outbox.ts'
import { payloadElements } from './payload.ts'
import { WampError, type Invocation, type InvocationHandler } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface Invocations {
  run(requestId: number, handler: InvocationHandler, invocation: Invocation): void
  /** Responds to an invocation that is not run. */
  reject(requestId: number, uri: string, why: string): void
  onInterrupt(message: WampMessage): void
  end(): void
}

/** More at once are rejected: each has an HTTP request. */
const MAX_INVOCATIONS = 10_000

export const createInvocations = (outbox: Outbox, log: Log): Invocations => {
  const running = new Set<number>()

  const reject: Invocations['reject'] = (requestId, uri, why) => {
    outbox.post([MESSAGE.error, MESSAGE.invocation, requestId, {}, uri, [why]])
  }

  const answer = (requestId: number, message: WampMessage): void => {
    if (!running.delete(requestId)) return
    if (outbox.isBacklogged) reject(requestId, 'svc.error.overloaded', 'responses are not read')
    else if (!outbox.post(message))
      reject(requestId, 'wamp.error.invalid_argument', 'the response can’t be encoded')
  }

  const finish = async (
    requestId: number,
    handler: InvocationHandler,
    invocation: Invocation,
  ): Promise<void> => {
    try {
      const payload = await handler(invocation)
      answer(requestId, [MESSAGE.yield, requestId, {}, ...payloadElements(payload)])
    } catch (error) {
      if (!(error instanceof WampError)) log.error('an invocation handler failed', { error })
      const wampError = error instanceof WampError ? error : HANDLER_FAILED
      const head = [MESSAGE.error, MESSAGE.invocation, requestId, {}, wampError.uri]
      answer(requestId, [...head, ...payloadElements(wampError)])
    }
  }

  return {
    run: (requestId, handler, invocation) => {
      if (running.size >= MAX_INVOCATIONS) {
        reject(requestId, 'svc.error.overloaded', 'too many invocations at once')
      } else if (!running.has(requestId)) {
        running.add(requestId)
        void finish(requestId, handler, invocation)
      }
    },

    reject,

    // The handler runs to its end, and its result is not sent. Routers interrupt only callees that announce
    // `call_canceling`, which we don't; of the modes only `kill` waits for a response.
    onInterrupt: (message) => {
      const requestId = message[1] as number
      const { mode } = message[2] as ValueMap
      if (!running.delete(requestId) || mode !== 'kill') return
      reject(requestId, 'wamp.error.canceled', 'the call was canceled')
    },

    end: () => {
      running.clear()
    },
  }
}

const HANDLER_FAILED = new WampError('wamp.error.runtime_error', 'The handler failed.', {
  args: ['the handler failed'],
})
