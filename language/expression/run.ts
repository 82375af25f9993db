// Compiles a template to a closure that computes its value from a request's context. Built once, run many times; data
// of requests is never read as an expression.

import type { Host } from './functions/apply.ts'
import { explainFunctionError, ExpressionError, kindOf, showSource, showValue } from './errors.ts'
import { functionNamed, STEP } from './functions/functions.ts'
import { asHeaderMap, isHeaderMap } from './header-map.ts'
import { chargeCopy } from './keys.ts'
import { explainStep, ownValue } from './lookup.ts'
import { reader } from './read.ts'
import { toText } from './render.ts'
import { sourceOf } from './source.ts'
import {
  bytesOfText,
  hasFewKeys,
  LIMITS,
  spendCall,
  spendWork,
  unitsOfCopy,
} from './functions/spend.ts'
import type { PipeArgument, PipeCall, PipeTemplate, Template, TextTemplate } from './template.ts'
import { isMap, setOwn, type Value, type ValueMap } from './value.ts'

/** What templates read, and what they may use up. */
export interface EvaluationContext extends Host {
  readonly request: ValueMap
  readonly action: ValueMap
  readonly security: ValueMap
  /** Why the gateway refuses the request: for `on_refusal` alone. */
  readonly refusal?: ValueMap
  /** The operation's merged map. */
  readonly status_codes?: ValueMap
  /** Bytes that templates and functions may still produce; plain references do not count. */
  budget: number
}

/** @throws ExpressionError */
type Run = (context: EvaluationContext) => Value

/**
 * @example evaluator({ kind: 'read', root: 'request', keys: ['method'] })(context) // 'get'
 */
export const evaluator = (template: Template): Run => {
  switch (template.kind) {
    case 'constant':
      return () => template.value
    case 'read':
      return reader(template)
    case 'text':
      return joiner(template, insertText)
    case 'pipe':
      return piper(template)
    case 'list': {
      const items = template.items.map(evaluator)
      return (context) => items.map((item) => item(context))
    }
    case 'map':
      return mapper(template.entries.map(([key, child]) => [key, evaluator(child)]))
  }
}

const mapper =
  (entries: readonly (readonly [string, Run])[]): Run =>
  (context) => {
    if (!hasFewKeys(entries.length)) spendWork(context, unitsOfCopy(entries.length))
    const map: Record<string, Value> = {}
    for (const [key, run] of entries) setOwn(map, key, run(context))
    return map
  }

/** Text of a value that is inserted; `part` is the template that it comes from. */
export type Insert = (value: Value, part: Template, context: EvaluationContext) => string

const insertText: Insert = (value, _part, context) => toText(value, context)

/** The text of a template; pieces are charged to the budget before they are joined. */
export const joiner = (
  template: TextTemplate,
  insert: Insert,
): ((context: EvaluationContext) => string) => {
  let lead = ''
  let cost = 0
  const waiting: { readonly part: Template; readonly run: Run; tail: string }[] = []
  for (const part of template.parts) {
    const last = waiting.at(-1)
    if (typeof part !== 'string') waiting.push({ part, run: runOf(part, insert), tail: '' })
    else if (last === undefined) lead += part
    else last.tail += part
    if (typeof part === 'string') cost += bytesOfText(part)
  }
  return (context) => {
    context.budget -= cost
    if (context.budget < 0) throw overspent(template)
    let text = lead
    for (const { part, run, tail } of waiting) {
      const piece = insert(run(context), part, context)
      context.budget -= bytesOfText(piece)
      if (context.budget < 0) throw overspent(template)
      text += piece + tail
    }
    return text
  }
}

/** A text within a text follows the same rule for what is inserted. */
const runOf = (part: Template, insert: Insert): Run =>
  part.kind === 'text' ? joiner(part, insert) : evaluator(part)

const overspent = (template: TextTemplate): ExpressionError =>
  new ExpressionError(`${showSource(sourceOf(template))}: the text is too large: ${LIMITS}`, {
    template,
  })

type Step = (value: Value, context: EvaluationContext) => Value

const piper = (template: PipeTemplate): Run => {
  const input = evaluator(template.input)
  const steps = template.calls.map((call, index) => stepOf(call, template, showAt(template, index)))
  return (context) => {
    let value = input(context)
    for (const step of steps) value = step(value, context)
    return value
  }
}

/** Describes a value in a message. */
type Show = (value: Value) => string

/**
 * Values are shown only where they must be the request's own: a known input, or an argument of an earlier call, may
 * come from a Secret.
 */
const showAt = ({ input, calls }: PipeTemplate, index: number): Show =>
  input.kind === 'read' && calls.slice(0, index).every(({ args }) => args.length === 0)
    ? showValue
    : kindOf

const stepOf = (call: PipeCall, pipe: PipeTemplate, show: Show): Step => {
  const args = argumentsOf(call.args)
  if (call.name === STEP) return keyStep(args, pipe)
  const apply = functionNamed(call.name)?.apply
  if (apply === undefined) throw new TypeError(`no function is called ${call.name}`)
  const read = call.ofHeaders === true ? readHeaders : readAsItIs
  return (given, context) => {
    if (given === '') return given
    const value = read(given, context)
    const values = args(value, context)
    try {
      spendCall(context)
      return apply(value, values, context)
    } catch (error) {
      const reason = explainFunctionError(call.name, error, show)
      throw new ExpressionError(`${showSource(pipe.source)}: ${reason}`, {
        template: pipe,
        cause: error,
      })
    }
  }
}

const readAsItIs = (value: Value): Value => value

const readHeaders = (value: Value, context: EvaluationContext): Value => {
  if (isMap(value) && !isHeaderMap(value)) chargeCopy(value, context)
  return asHeaderMap(value)
}

type Arguments = (piped: Value, context: EvaluationContext) => readonly Value[]

const argumentsOf = (args: readonly PipeArgument[]): Arguments => {
  const constants = args.filter((arg) => arg.kind === 'constant')
  if (constants.length === args.length) {
    const values = constants.map((arg) => arg.value)
    return () => values
  }
  const runs = args.map((arg) => (arg.kind === 'piped' ? undefined : evaluator(arg)))
  return (piped, context) => runs.map((run) => (run === undefined ? piped : run(context)))
}

/** `{{variables.piped.key}}`: a path that goes on, so no rule for empty texts and no default. */
const keyStep =
  (args: Arguments, pipe: PipeTemplate): Step =>
  (value, context) => {
    const key = toText(args(value, context)[0] ?? '', context)
    const found = ownValue(value, key)
    if (found !== undefined) return found
    const reason = explainStep(value, key, 'what the pipe gives')
    throw new ExpressionError(`${showSource(pipe.source)}: ${reason}`, { template: pipe })
  }
