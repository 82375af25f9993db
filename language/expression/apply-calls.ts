// Applies the functions of a pipe at load as long as their input is known; the first that must wait makes the rest
// wait.

import type { Host } from './functions/apply.ts'
import { isSpent, WORK_AT_LOAD } from './functions/spend.ts'
import type { TagAst } from './syntax/ast.ts'
import { explainFunctionError, kindOf, showKey } from './errors.ts'
import type { ExpressionFunction } from './functions/functions.ts'
import { refuseTag } from './resolve.ts'
import { isHeaderMap, rememberAsHeaders, toHeaderMap } from './header-map.ts'
import { entryOf, isKnownAsHeaders } from './header-templates.ts'
import { INVALID, isKnown } from './scope.ts'
import type { Site } from './site.ts'
import {
  constant,
  type MapTemplate,
  type PipeArgument,
  type PipeCall,
  type Template,
} from './template.ts'
import { isMap, type Value } from './value.ts'

export interface PlannedCall {
  /** Where its name begins in the string. */
  readonly offset: number
  readonly definition: ExpressionFunction
  readonly args: readonly PipeArgument[]
}

export const applyCalls = (
  input: Template,
  calls: readonly PlannedCall[],
  tag: TagAst,
  site: Site,
): Template => {
  let current = input
  for (const [index, call] of calls.entries()) {
    const next = applyCall(current, call, tag, site)
    if (next === undefined) return pipe(current, calls.slice(index), tag.source)
    if (next === INVALID) return INVALID
    current = next
  }
  return current
}

const pipe = (input: Template, calls: readonly PlannedCall[], source: string): Template => ({
  kind: 'pipe',
  input,
  calls: calls.map(({ definition: { name }, args }, index): PipeCall => {
    const isOfHeaders =
      (index === 0 && isKnownAsHeaders(input)) || (name === 'merge' && args.some(isKnownAsHeaders))
    return { name, args, ...(isOfHeaders && { ofHeaders: true }) }
  }),
  source,
})

/** Undefined: it has to wait. */
const applyCall = (
  input: Template,
  call: PlannedCall,
  tag: TagAst,
  site: Site,
): Template | undefined => {
  if (isKnown(input)) return applyToValue(input.value, call, tag, site)
  const [key, otherwise] = call.args
  const isPick = input.kind === 'map' && call.definition.name === 'get' && key?.kind === 'constant'
  return isPick && typeof key.value === 'string'
    ? pick(input, key.value, otherwise, (reason) => refuseTag(tag, site, reason, call.offset))
    : undefined
}

const applyToValue = (
  value: Value,
  { definition, args, offset }: PlannedCall,
  tag: TagAst,
  site: Site,
): Template | undefined => {
  if (value === '') return constant(value)
  const values: Value[] = []
  for (const arg of args) {
    if (arg.kind === 'piped') values.push(value)
    else if (isKnown(arg)) values.push(arg.value)
  }
  if (!definition.isPure || values.length < args.length) return undefined
  const { budget } = site.scope
  const host: Host = { budget: budget.left, work: budget.work ?? WORK_AT_LOAD }
  // One of the two is exceeded and that has been reported: once is enough.
  if (isSpent(host)) return INVALID
  try {
    const result = definition.apply(value, values, host)
    if (definition.level === 0) noteAsHeaders(result, { definition, args, value, values })
    return constant(result)
  } catch (error) {
    return refuseTag(tag, site, explainFunctionError(definition.name, error, kindOf), offset)
  } finally {
    budget.left = host.budget
    budget.work = host.work
  }
}

interface Application extends Pick<PlannedCall, 'definition' | 'args'> {
  readonly value: Value
  readonly values: readonly Value[]
}

/**
 * Where the result will stand is not known here. If it is among headers, its names had no case all along: `{X-A: 1} |>
 * without([x-a])` is empty. It costs as much as the result, so that the budget need not count it.
 */
const noteAsHeaders = (result: Value, { definition, args, value, values }: Application): void => {
  if (!isMap(result) || !isMap(value) || isHeaderMap(result)) return
  const piped = toHeaderMap(value)
  const of = values.map((each, index) => (args[index]?.kind === 'piped' ? piped : each))
  const headers = definition.apply(piped, of, { budget: Infinity, work: Infinity })
  if (isMap(headers)) rememberAsHeaders(result, headers)
}

/** Taking one entry of a map in which others wait does not wait for those. */
const pick = (
  map: MapTemplate,
  key: string,
  otherwise: PipeArgument | undefined,
  refuse: (reason: string) => Template,
): Template => {
  const found = entryOf(map, key)
  if (found !== undefined) return found
  return otherwise === undefined || otherwise.kind === 'piped'
    ? refuse(`get finds no key ${showKey(key)} and has no default`)
    : otherwise
}
