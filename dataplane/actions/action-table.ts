// Prepares what performs an operation, in one table of all types of actions. All else about an action is said by its row in
// `language/compile/action.ts`.

import type { ActionType, CompiledAction } from '../../language/compile/action.ts'
import type { CompiledOperation } from '../../language/compile/compiled.ts'
import type { Template } from '../../language/expression/template.ts'
import { readDocsFile } from '../../web/docs-files.ts'
import { prepareForward, type ForwardEnvironment } from './forward/forward.ts'
import type { Perform } from './performer.ts'
import { prepareStatic } from './static.ts'
import { prepareWampCall } from './wamp/call.ts'
import type { WampEnvironment } from './wamp/environment.ts'
import { prepareWampPublish } from './wamp/publish.ts'
import { prepareWampRegister } from './wamp/register.ts'
import { prepareWampRelease } from './wamp/release.ts'
import { prepareWampSubscribe } from './wamp/subscribe.ts'

/** What actions reach of the world, for one version of one document. */
export interface ActionEnvironment {
  readonly forward: ForwardEnvironment
  readonly wamp: WampEnvironment
}

type OperationOf<K extends ActionType> = CompiledOperation & {
  readonly action: CompiledAction<Template, K>
}

type Prepare<K extends ActionType> = (
  operation: OperationOf<K>,
  environment: ActionEnvironment,
) => Perform

const ACTIONS: { readonly [K in ActionType]: Prepare<K> } = {
  empty: () => (exchange) => {
    exchange.succeed({})
  },
  docs_file:
    ({ action }) =>
    (exchange) => {
      exchange.succeed({ body: readDocsFile(action.name) })
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

/** What performs an operation: made once, run for every request. */
export const createPerformer = <K extends ActionType>(
  operation: OperationOf<K>,
  environment: ActionEnvironment,
): Perform => ACTIONS[operation.action.type](operation, environment)
