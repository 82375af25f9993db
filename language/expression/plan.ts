// Plans the syntax of one string as a template: resolves names, puts in known values, joins text. Problems go to the
// site, which knows where the string stands.

import { applyCalls, type PlannedCall } from './apply-calls.ts'
import type { ArgumentAst, Ast, BracketsAst, CallAst, TagAst, TextAst } from './syntax/ast.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { explainFunctionError, kindOf, showKey } from './errors.ts'
import {
  type ExpressionFunction,
  functionMeant,
  functionNamed,
  functionNames,
} from './functions/functions.ts'
import { toText } from './render.ts'
import { refuseTag, resolvePath } from './resolve.ts'
import { INVALID, isKnown } from './scope.ts'
import type { Site } from './site.ts'
import { bytesOfText, LIMITS } from './functions/spend.ts'
import { constant, type PipeArgument, type Template } from './template.ts'
import type { Value } from './value.ts'

export const planAst = (ast: Ast, site: Site): Template => {
  switch (ast.kind) {
    case 'literal':
      return constant(ast.text)
    case 'tag':
      return planTag(ast, site)
    case 'text':
      return planText(ast, site)
  }
}

const planTag = (tag: TagAst, site: Site): Template => {
  const input = resolvePath(tag, site)
  if (tag.calls.length === 0) return input
  const calls = tag.calls.map((call) => planCall(call, tag, site))
  const isSound = calls.every((call) => call !== undefined)
  return isSound && input !== INVALID ? applyCalls(input, calls, tag, site) : INVALID
}

/** Undefined: it is faulty, and that is reported. */
const planCall = (call: CallAst, tag: TagAst, site: Site): PlannedCall | undefined => {
  const definition = functionNamed(call.name)
  const reason =
    definition === undefined ? unknownFunction(call.name) : argumentsProblem(definition, call.args)
  if (definition === undefined || reason !== undefined) {
    refuseTag(tag, site, reason ?? '', call.offset)
    return undefined
  }
  const args = call.args.map((arg) => planArgument(arg, definition, site))
  if (args.includes(INVALID)) return undefined
  const unsuitable = unsuitableArguments(definition, args)
  if (unsuitable === undefined) return { definition, args, offset: call.offset }
  refuseTag(tag, site, unsuitable, call.offset)
  return undefined
}

/** Why no input could be served with what is known of the arguments. */
const unsuitableArguments = (
  { name, isStrict, verifyArguments }: ExpressionFunction,
  args: readonly PipeArgument[],
): string | undefined => {
  if (isStrict !== true) return undefined
  try {
    verifyArguments?.(args.map((arg) => (arg.kind === 'constant' ? arg.value : undefined)))
    return undefined
  } catch (error) {
    return explainFunctionError(name, error, kindOf)
  }
}

const unknownFunction = (name: string): string => {
  const other = functionMeant(name)
  const hint = other === undefined ? didYouMean(name, functionNames()) : `; there is ${other}`
  return `there is no function ${showKey(name)}${hint}; there are ${functionNames().join(', ')}`
}

const argumentsProblem = (
  { name, least, most, form, written }: ExpressionFunction,
  args: readonly ArgumentAst[],
): string | undefined => {
  if (args.length < least || args.length > most) {
    const range = least === most ? String(most) : `${least} to ${most}`
    const remedy = most === 0 ? '' : `: write ${written}`
    return `${name} takes ${range} argument${most === 1 ? '' : 's'}, got ${args.length}${remedy}`
  }
  const inBrackets = args.filter((arg) => arg.kind === 'brackets').length
  if (form === 'brackets') {
    return inBrackets === args.length
      ? undefined
      : `${name} takes keys in brackets: ${name}([a, b])`
  }
  if (inBrackets > 0) return `${name} takes no brackets; only with and without do`
  const piped = args.filter(isPiped).length
  return form === 'piped' && piped !== args.length - 1
    ? `${name} takes one map, or two of which one is _, the piped one`
    : undefined
}

const isPiped = (arg: ArgumentAst): boolean => arg.kind === 'word' && arg.text === '_'

const planArgument = (arg: ArgumentAst, { form }: ExpressionFunction, site: Site): PipeArgument => {
  if (form === 'piped' && isPiped(arg)) return { kind: 'piped' }
  if (arg.kind === 'word' && arg.text === '$map') return constant({})
  return arg.kind === 'brackets' ? planBrackets(arg, site) : planItem(arg, site)
}

const planItem = (item: Exclude<ArgumentAst, BracketsAst>, site: Site): Template =>
  item.kind === 'tag' ? planTag(item, site) : constant(item.text)

const planBrackets = (brackets: BracketsAst, site: Site): Template => {
  const items = brackets.items.map((item) => planItem(item, site))
  if (items.includes(INVALID)) return INVALID
  return items.every(isKnown) ? constant(items.map((item) => item.value)) : { kind: 'list', items }
}

const planText = (ast: TextAst, site: Site): Template => {
  const parts: (string | Template)[] = []
  let literal = ''
  let isFaulty = false
  for (const part of ast.parts) {
    const piece = typeof part === 'string' ? part : planInsert(part, site)
    if (typeof piece === 'string') literal += piece
    else if (piece === INVALID) isFaulty = true
    else {
      if (literal !== '') parts.push(literal)
      parts.push(piece)
      literal = ''
    }
  }
  if (isFaulty) return INVALID
  if (parts.length === 0) return constant(literal)
  if (literal !== '') parts.push(literal)
  return { kind: 'text', parts }
}

/** The text of a known value, charged to the budget. */
const planInsert = (tag: TagAst, site: Site): string | Template => {
  const template = planTag(tag, site)
  return isKnown(template) ? insertKnown(template.value, tag, site) : template
}

const insertKnown = (value: Value, tag: TagAst, site: Site): string | Template => {
  const { budget } = site.scope
  // The budget is exceeded and that has been reported: once is enough.
  if (budget.left < 0) return INVALID
  const text = toText(value)
  budget.left -= bytesOfText(text)
  return budget.left < 0 ? refuseTag(tag, site, `the text is too large: ${LIMITS}`) : text
}
