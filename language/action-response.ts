// Determines how an operation responds where `on_result` leaves that to its action (behaviour §5), in one table of all
// types of actions.

import type { ActionType, CompiledAction } from './compile/action.ts'
import type { CompiledOperation } from './compiled.ts'
import { constant, type Template } from './expression/template.ts'
import { responseNeedsOf } from './response-needs.ts'

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

/** How an operation responds, as far as its action decides it. */
export const actionResponse = <K extends ActionType>(operation: OperationOf<K>): ActionResponse =>
  RESPONSES[operation.action.type](operation)

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

const RESPONSES: { readonly [K in ActionType]: (operation: OperationOf<K>) => ActionResponse } = {
  empty: () => ({ headers: undefined, body: NO_BODY, ...OWN }),
  static: ({ action: { headers, body } }) => ({ headers, body, ...OWN }),
  forward: (operation) => ({
    headers: undefined,
    body: RESULT_BODY,
    givesStatus: true,
    isFixed: false,
    checksAccept: !responseNeedsOf(operation).passesThrough,
    takesBody: operation.action.body === undefined,
    events: 'none',
  }),
  wamp_call: respondByRouter('finite'),
  wamp_publish: respondByRouter('none'),
  wamp_subscribe: respondByRouter('endless'),
  wamp_unsubscribe: respondByRouter('none'),
  wamp_register: respondByRouter('none'),
  wamp_unregister: respondByRouter('none'),
}
