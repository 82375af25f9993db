// Defines what an action says of how an operation responds where `on_result` leaves that open (behaviour §5), and what most
// actions have in common there.

import type { CheckedResponses } from './compiled-response.ts'
import { constant, type Template } from '../expression/template.ts'

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

/** A body that is none. */
export const NO_BODY: Template = constant('')

const resultAt = (...keys: string[]): Template => ({ kind: 'read', root: 'action', keys })

const RESULT = resultAt('result')

/** What the action has as the body of its result. */
export const RESULT_BODY = resultAt('result', 'body')

/** What is made here, of what the document says. */
export const OWN_RESPONSE = {
  givesStatus: false,
  isFixed: true,
  checksAccept: true,
  takesBody: false,
  events: 'none',
} as const

/**
 * A result of the router is the body of an operation that declares no `on_result`. One that must be checked is never sent in
 * pieces.
 */
export const routerResponse =
  (events: ActionResponse['events']) =>
  ({ onResult, schema }: CheckedResponses): ActionResponse => ({
    headers: undefined,
    body: onResult.declared ? NO_BODY : RESULT,
    givesStatus: false,
    isFixed: false,
    checksAccept: true,
    takesBody: false,
    events: schema?.isEnforced === true && events === 'finite' ? 'none' : events,
  })
