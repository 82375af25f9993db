// An exchange that writes down what an action reports, for tests of actions that touch no network.

import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { ActionError, Exchange } from '../../../dataplane/actions/performer.ts'
import { Context } from '../../../dataplane/context.ts'
import type { ValueMap } from '../../../spec/expression/value.ts'

export interface Probe extends Exchange {
  readonly results: ValueMap[]
  readonly failures: ActionError[]
}

export const probeExchange = (request: Readonly<Record<string, unknown>> = {}): Probe => {
  const context = new Context()
  Object.assign(context.request, request)
  const results: ValueMap[] = []
  const failures: ActionError[] = []
  return {
    context,
    incoming: new IncomingMessage(new Socket()),
    rawBody: undefined,
    results,
    failures,
    succeed: (result) => results.push(result),
    fail: (error) => failures.push(error),
    refuse: (error) => {
      throw error
    },
    stream: () => undefined,
    onCancel: () => undefined,
  }
}
