// Creates the performer of an action by its type, from one table: a new type does not compile until it is in the
// table.

import type { CompiledAction, CompiledOperation } from '../../language/compiled.ts'
import { prepareForward, type ForwardEnvironment } from './forward/forward.ts'
import type { Perform } from './performer.ts'
import { prepareStatic } from './static.ts'
import { prepareWampCall } from './wamp/call.ts'
import type { WampEnvironment } from './wamp/environment.ts'
import { prepareWampPublish } from './wamp/publish.ts'
import { prepareWampRegister } from './wamp/register.ts'
import { prepareWampRelease } from './wamp/release.ts'
import { prepareWampSubscribe } from './wamp/subscribe.ts'

/** What actions need from outside, for one version of one document. */
export interface ActionEnvironment {
  readonly forward: ForwardEnvironment
  readonly wamp: WampEnvironment
}

type Factory<A> = (
  operation: CompiledOperation & { readonly action: A },
  environment: ActionEnvironment,
) => Perform

type Factories = {
  readonly [T in CompiledAction['type']]: Factory<Extract<CompiledAction, { readonly type: T }>>
}

const FACTORIES: Factories = {
  empty: () => (exchange) => {
    exchange.succeed({})
  },
  static: (operation) => prepareStatic(operation, operation.action),
  forward: (operation, { forward }) => prepareForward(operation, forward),
  wamp_call: (operation, { wamp }) => prepareWampCall(operation, wamp),
  wamp_publish: (operation, { wamp }) => prepareWampPublish(operation, wamp),
  wamp_subscribe: (operation, { wamp }) => prepareWampSubscribe(operation, wamp),
  wamp_unsubscribe: (operation, { wamp }) => prepareWampRelease(operation, wamp),
  wamp_register: (operation, { wamp }) => prepareWampRegister(operation, wamp),
  wamp_unregister: (operation, { wamp }) => prepareWampRelease(operation, wamp),
}

export const createPerformer = (
  operation: CompiledOperation,
  environment: ActionEnvironment,
): Perform => {
  const { action } = operation
  // The table's type pairs each action with its own factory; a union of functions cannot be called as such.
  const factory = FACTORIES[action.type] as Factory<CompiledAction>
  return factory(operation, environment)
}
