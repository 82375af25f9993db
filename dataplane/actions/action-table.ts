// What the data plane does with each type of action, in one table: what performs it, and how its operations
// respond where `on_result` leaves that to the action. Nothing else asks for the type of an action.

import type { ActionType, CompiledAction } from '../../language/compile/action.ts'
import type { CompiledOperation } from '../../language/compiled.ts'
import { constant, type Template } from '../../language/expression/template.ts'
import { prepareForward, type ForwardEnvironment } from './forward/forward.ts'
import { responseNeedsOf } from './forward/response-needs.ts'
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

/** How an operation responds, as far as its action decides it (behaviour §5). Known before any request. */
export interface ActionResponse {
  /** Headers where `on_result` has none. undefined: those of the operation stay, so that CORS works. */
  readonly headers: Template | undefined
  /** Body where `on_result` has none. */
  readonly body: Template
  /** Where `on_result` has no status, it is the `status_code` of the action's result. */
  readonly givesStatus: boolean
  /** The result is the same for every request: so is the response, where no template of it waits for one. */
  readonly isFixed: boolean
  /** False where the body is not ours to encode: whatever a client accepts, it is what it is. */
  readonly checksAccept: boolean
  /** The body of the request is the action's, undecoded, unless a template reads it. */
  readonly takesBody: boolean
  /** Whether the response may be a stream of events. An endless one ends with its client alone. */
  readonly events: 'none' | 'finite' | 'endless'
}

type OperationOf<K extends ActionType> = CompiledOperation & {
  readonly action: CompiledAction<Template, K>
}

interface ActionRow<K extends ActionType> {
  readonly prepare: (operation: OperationOf<K>, environment: ActionEnvironment) => Perform
  readonly respond: (operation: OperationOf<K>) => ActionResponse
}

/** A body that is none. */
export const NO_BODY: Template = constant('')

const resultAt = (...keys: string[]): Template => ({ kind: 'read', root: 'action', keys })

const RESULT = resultAt('result')
const RESULT_BODY = resultAt('result', 'body')

/** What is made here, of what the document says. */
const OWN = {
  givesStatus: false,
  isFixed: true,
  checksAccept: true,
  takesBody: false,
  events: 'none',
} as const

/** A result of the router is the body of an operation that declares no `on_result`. */
const respondByRouter =
  (events: ActionResponse['events']) =>
  ({ onResult }: CompiledOperation): ActionResponse => ({
    headers: undefined,
    body: onResult.declared ? NO_BODY : RESULT,
    givesStatus: false,
    isFixed: false,
    checksAccept: true,
    takesBody: false,
    events,
  })

const ACTIONS: { readonly [K in ActionType]: ActionRow<K> } = {
  empty: {
    prepare: () => (exchange) => {
      exchange.succeed({})
    },
    respond: () => ({ headers: undefined, body: NO_BODY, ...OWN }),
  },
  static: {
    prepare: (operation) => prepareStatic(operation, operation.action),
    respond: ({ action: { headers, body } }) => ({ headers, body, ...OWN }),
  },
  forward: {
    prepare: (operation, { forward }) => prepareForward(operation, forward),
    respond: (operation) => ({
      headers: undefined,
      body: RESULT_BODY,
      givesStatus: true,
      isFixed: false,
      checksAccept: !responseNeedsOf(operation).passesThrough,
      takesBody: operation.action.body === undefined,
      events: 'none',
    }),
  },
  wamp_call: {
    prepare: (operation, { wamp }) => prepareWampCall(operation, wamp),
    respond: respondByRouter('finite'),
  },
  wamp_publish: {
    prepare: (operation, { wamp }) => prepareWampPublish(operation, wamp),
    respond: respondByRouter('none'),
  },
  wamp_subscribe: {
    prepare: (operation, { wamp }) => prepareWampSubscribe(operation, wamp),
    respond: respondByRouter('endless'),
  },
  wamp_unsubscribe: {
    prepare: (operation, { wamp }) => prepareWampRelease(operation, wamp),
    respond: respondByRouter('none'),
  },
  wamp_register: {
    prepare: (operation, { wamp }) => prepareWampRegister(operation, wamp),
    respond: respondByRouter('none'),
  },
  wamp_unregister: {
    prepare: (operation, { wamp }) => prepareWampRelease(operation, wamp),
    respond: respondByRouter('none'),
  },
}

/** What performs an operation: made once, run for every request. */
export const createPerformer = <K extends ActionType>(
  operation: OperationOf<K>,
  environment: ActionEnvironment,
): Perform => ACTIONS[operation.action.type].prepare(operation, environment)

/** How an operation responds, as far as its action decides it. */
export const actionResponse = <K extends ActionType>(operation: OperationOf<K>): ActionResponse =>
  ACTIONS[operation.action.type].respond(operation)
