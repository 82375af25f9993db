// Writes folded templates as values that may be shown to people: what waits for a request prints as it was written, and
// secrets are hidden by the names that they stand under. It never sees a value from a Secret (`Environment.withheld`).

import { isSecretName, maskCredentials } from '../../base/secret-name.ts'
import { STEP } from '../expression/functions/functions.ts'
import { toText } from '../expression/render.ts'
import type { PipeArgument, PipeCall, PipeTemplate, Template } from '../expression/template.ts'
import { isList, isMap, setOwn, type Value } from '../expression/value.ts'

const HIDDEN = '(hidden)'
/** Stands for what was left out because too much was to be shown. */
const CUT = '(cut)'

/** Writes templates until its budget is used up, and `CUT` from then on. */
export type WriteTemplate = (template: Template) => Value

/**
 * @param maxCharacters of all that is written, about
 * @example createTemplateWriter(65_536)({ kind: 'read', root: 'request', keys: ['id'] }) // '{{request.id}}'
 */
export const createTemplateWriter = (maxCharacters: number): WriteTemplate => {
  const budget: Budget = { left: maxCharacters }
  return (template) => write(template, false, budget)
}

/**
 * Hides nothing that stands in the document: to be compared, and never to be shown.
 * @example revealTemplate({ kind: 'constant', value: { password: 'a' } }) // { password: 'a' }
 */
export const revealTemplate: WriteTemplate = (template) => {
  switch (template.kind) {
    case 'constant':
      return template.value
    case 'list':
      return template.items.map(revealTemplate)
    case 'map': {
      const map: Record<string, Value> = {}
      for (const [key, value] of template.entries) setOwn(map, key, revealTemplate(value))
      return map
    }
    case 'read':
      return textOf(template, false)
    case 'pipe':
      return template.source
    case 'text':
      return template.parts
        .map((part) => (typeof part === 'string' ? part : toText(revealTemplate(part))))
        .join('')
  }
}

interface Budget {
  left: number
}

/** @param isSecret it stands under the name of a secret */
const write = (template: Template, isSecret: boolean, budget: Budget): Value => {
  if (budget.left <= 0) return CUT
  switch (template.kind) {
    case 'constant':
      return writeValue(template.value, isSecret, budget)
    case 'list':
      return template.items.map((item) => write(item, isSecret, budget))
    case 'map': {
      const map: Record<string, Value> = {}
      for (const [key, value] of template.entries) {
        if (budget.left <= 0) return CUT
        setOwn(map, charge(key, budget), write(value, isSecret || isSecretName(key), budget))
      }
      return map
    }
    case 'read':
    case 'text':
    case 'pipe':
      return charge(textOf(template, isSecret), budget)
  }
}

const writeValue = (value: Value, isSecret: boolean, budget: Budget): Value => {
  if (budget.left <= 0) return CUT
  budget.left -= 8
  if (value === null || value === '' || typeof value === 'boolean') return value
  if (isList(value)) return value.map((item) => writeValue(item, isSecret, budget))
  if (isMap(value)) {
    const map: Record<string, Value> = {}
    for (const [key, member] of Object.entries(value)) {
      if (budget.left <= 0) return CUT
      setOwn(map, charge(key, budget), writeValue(member, isSecret || isSecretName(key), budget))
    }
    return map
  }
  if (isSecret) return HIDDEN
  return typeof value === 'string' ? charge(mask(value), budget) : value
}

const charge = (text: string, budget: Budget): string => {
  const isTooLong = text.length > Math.max(budget.left, CUT.length)
  budget.left -= text.length
  return isTooLong ? CUT : text
}

type TextLike = Extract<Template, { readonly kind: 'read' | 'text' | 'pipe' }>

const textOf = (template: TextLike, isSecret: boolean): string => {
  if (template.kind === 'read') return `{{${[template.root, ...template.keys].join('.')}}}`
  if (template.kind === 'pipe') return pipeText(template, isSecret)
  const parts = template.parts.map((part) =>
    typeof part === 'string' ? literal(part, isSecret) : partText(part, isSecret),
  )
  return mask(parts.join(''))
}

/** The scheme of credentials is no secret. */
const literal = (text: string, isSecret: boolean): string =>
  isSecret && !/^(?:bearer|basic|apikey) $/i.test(text) ? HIDDEN : text

const UNBOUNDED = (): Budget => ({ left: Infinity })

const partText = (template: Template, isSecret: boolean): string =>
  toText(write(template, isSecret, UNBOUNDED()))

/** As its author wrote it, unless a secret may stand in that text. */
const pipeText = (pipe: PipeTemplate, isSecret: boolean): string => {
  const { source, calls } = pipe
  const isPlain = calls.length === 0 || !(isSecret || calls.some(setsSecret))
  return isPlain ? mask(source) : rebuilt(pipe, isSecret)
}

/** `put(authorization, …)`, also within an argument. */
const setsSecret = ({ args }: PipeCall): boolean =>
  args.some(
    (arg) =>
      (arg.kind === 'constant' && typeof arg.value === 'string' && isSecretName(arg.value)) ||
      (arg.kind === 'pipe' && arg.calls.some(setsSecret)),
  )

/** From what it does, not from what was written. */
const rebuilt = ({ input, calls }: PipeTemplate, isSecret: boolean): string => {
  const steps = calls.map((call) =>
    call.name === STEP
      ? `.${argumentText(call.args[0], false)}`
      : ` |> ${callText(call, isSecret)}`,
  )
  return mask(`{{${bare(partText(input, isSecret))}${steps.join('')}}}`)
}

const callText = ({ name, args }: PipeCall, isSecret: boolean): string => {
  const [first, ...rest] = args
  if (first === undefined) return name
  const isOfSecret = isSecret || setsSecret({ name, args: [first] })
  const others = rest.map((arg) => argumentText(arg, isOfSecret))
  return `${name}(${[argumentText(first, isSecret && rest.length === 0), ...others].join(', ')})`
}

const argumentText = (arg: PipeArgument | undefined, isSecret: boolean): string => {
  if (arg === undefined) return ''
  return arg.kind === 'piped' ? '_' : partText(arg, isSecret)
}

const bare = (text: string): string =>
  text.startsWith('{{') && text.endsWith('}}') ? text.slice(2, -2) : text

/** Credentials within a text: of URLs, of headers, and parameters of a query that have the name of a secret. */
const mask = (text: string): string =>
  maskCredentials(text, HIDDEN).replaceAll(
    /(^|[?&])([\w.~-]{1,128})=([^&#\s"']+)/g,
    (whole, before: string, name: string) =>
      isSecretName(name) ? `${before}${name}=${HIDDEN}` : whole,
  )
