// Action type → what performs it, in one table: a new type does not compile until it stands here.

import type { CompiledAction, CompiledOperation } from '../../spec/compiled.ts'
import { prepareForward, type ForwardEnvironment } from './forward.ts'
import type { Perform } from './performer.ts'
import { prepareStatic } from './static.ts'
import { prepareWampAway } from './wamp-away.ts'

/** What actions reach of the world, for one version of one document. */
export interface ActionEnvironment {
  readonly forward: ForwardEnvironment
  readonly hasRealm: () => boolean
}

type Factory<A> = (
  action: A,
  operation: CompiledOperation,
  environment: ActionEnvironment,
) => Perform

type Factories = {
  readonly [T in CompiledAction['type']]: Factory<Extract<CompiledAction, { readonly type: T }>>
}

const FACTORIES: Factories = {
  empty: () => (exchange) => {
    exchange.succeed({})
  },
  static: (action, operation) => prepareStatic(operation, action),
  forward: (action, operation, environment) =>
    prepareForward({ ...operation, action }, environment.forward),
  wamp_call: (action, _, { hasRealm }) => prepareWampAway(action, hasRealm),
  wamp_publish: (action, _, { hasRealm }) => prepareWampAway(action, hasRealm),
  wamp_subscribe: (action, _, { hasRealm }) => prepareWampAway(action, hasRealm),
  wamp_unsubscribe: (action, _, { hasRealm }) => prepareWampAway(action, hasRealm),
  wamp_register: (action, _, { hasRealm }) => prepareWampAway(action, hasRealm),
  wamp_unregister: (action, _, { hasRealm }) => prepareWampAway(action, hasRealm),
}

export const createPerformer = (
  operation: CompiledOperation,
  environment: ActionEnvironment,
): Perform => {
  const { action } = operation
  // The table's type pairs each action with its own factory; a union of functions can't be called as such.
  const factory = FACTORIES[action.type] as Factory<CompiledAction>
  return factory(action, operation, environment)
}
