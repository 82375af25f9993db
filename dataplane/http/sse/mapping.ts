// Maps an operation's results to server-sent events, prepared once per operation. What does not depend on the
// listener is rendered once per result, however many streams it goes to.

import { functionNamed } from '../../../language/expression/functions/functions.ts'
import { childrenOf } from '../../../language/expression/children.ts'
import { jsonWriter } from '../../../language/expression/json.ts'
import { someRead } from '../../../language/expression/reads.ts'
import { evaluator } from '../../../language/expression/run.ts'
import type { PipeArgument, Template } from '../../../language/expression/template.ts'
import { toText } from '../../../language/expression/text.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { OutgoingEvent } from '../../actions/performer.ts'
import { Context } from '../../context.ts'
import { type EventBytes, toEventBytes } from './writer.ts'
import { formatEvent } from './format.ts'

export interface EventPlan {
  /**
   * Renders one event to bytes. `action`, `budget` and `work` of the context are set for it if it is evaluated.
   * @throws ExpressionError
   */
  write(event: OutgoingEvent, context: Context): EventBytes
  /** Renders the data of the event that reports a failure, from `action.error`; undefined: the error record. */
  readonly failure: ((context: Context) => string) | undefined
  /** Ends only with its client: nothing is lost if it ends early, as the client reconnects. */
  readonly isEndless: boolean
}

/** `body` and `failure`: of `on_result` and `on_error`, with defaults filled in; no `failure`: not declared. */
export interface EventTemplates {
  readonly isEndless: boolean
  readonly body: Template
  readonly failure: Template | undefined
}

export const prepareEvents = ({ isEndless, body, failure }: EventTemplates): EventPlan => {
  const data = prepareData(body)
  const render: Render = (event, context) => {
    context.action = { result: event.result }
    context.budget = BUDGET
    context.work = undefined
    return toEventBytes(formatEvent({ ...event, data: data(context) }))
  }
  return {
    write: isSameForAll(body) ? renderedOnce(render) : render,
    failure: failure && prepareData(failure),
    isEndless,
  }
}

/** The budget of templates applies per event, as a stream has no end (behaviour §1). */
export const BUDGET = new Context().budget

type Render = (event: OutgoingEvent, context: Context) => EventBytes

/**
 * A publication is passed to its streams one after the other with the same result object: its bytes are cached as
 * long as the result is referenced.
 */
const renderedOnce = (render: Render): Render => {
  const rendered = new WeakMap<
    ValueMap,
    { readonly event: OutgoingEvent; readonly bytes: EventBytes }
  >()
  return (event, context) => {
    const known = rendered.get(event.result)
    if (known !== undefined && known.event.id === event.id && known.event.name === event.name)
      return known.bytes
    const bytes = render(event, context)
    rendered.set(event.result, { event, bytes })
    return bytes
  }
}

/** Maps and lists as JSON, text as it is, bytes as base64; null is an empty payload like `""`. */
const prepareData = (template: Template): ((context: Context) => string) => {
  if (template.kind === 'map' || template.kind === 'list') return jsonWriter(template)
  const evaluate = evaluator(template)
  return (context) => {
    const value = evaluate(context)
    return value === null ? '' : toText(value, context)
  }
}

/** It reads nothing of the request or its caller, and uses no random or time function. */
const isSameForAll = (template: Template): boolean =>
  !someRead(template, (root) => root === 'request' || root === 'security') && !draws(template)

const draws = (template: PipeArgument): boolean => {
  if (template.kind === 'constant' || template.kind === 'read' || template.kind === 'piped')
    return false
  if (template.kind === 'pipe' && template.calls.some(({ name }) => !isPure(name))) return true
  return childrenOf(template).some(draws)
}

/** A step to a key, which is in no table, is pure. */
const isPure = (name: string): boolean => functionNamed(name)?.isPure ?? true
