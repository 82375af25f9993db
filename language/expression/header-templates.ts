// Reads templates as headers: those that a document puts where headers stand, and those that it takes from there.
// Functions on the way find names in any case, whatever the map passed through.

import { oncePer } from '../../base/once.ts'
import { functionNamed, STEP } from './functions/functions.ts'
import { isHeaderMap, rememberedAsHeaders, toHeaderMap } from './header-map.ts'
import { toText } from './render.ts'
import {
  constant,
  type MapTemplate,
  type PipeArgument,
  type PipeCall,
  type PipeTemplate,
  type ReadTemplate,
  type Template,
} from './template.ts'
import { isList, isMap, type Value } from './value.ts'

/** Whether a template that does not wait for a pipe is one of headers. */
export const isKnownAsHeaders = (template: PipeArgument): boolean =>
  template.kind === 'constant'
    ? isHeaderMap(template.value)
    : template.kind === 'map' && template.isHeaders === true

/** A template that is read from where headers stand: `{{defaults.headers}}`. */
export const readAsHeaders: (template: Template) => Template = oncePer((template) => {
  switch (template.kind) {
    case 'constant':
      return isMap(template.value) ? constant(headersOnce(template.value)) : template
    case 'map':
      return { ...template, entries: foldedEntries(template), isHeaders: true }
    case 'list':
    case 'text':
    case 'read':
    case 'pipe':
      return placeAsHeaders(template)
  }
})

/** Operations share the value. */
const headersOnce = oncePer(toHeaderMap)

const foldedEntries = ({ entries }: MapTemplate): MapTemplate['entries'] => [
  ...new Map(entries.map(([name, value]) => [name.toLowerCase(), value])),
]

/**
 * The template of a map that stands where headers stand.
 * @example placeAsHeaders(template of '{{request.body |> without([X-User])}}') // drops `x-user`, too
 */
export const placeAsHeaders: (template: Template) => Template = oncePer((template) =>
  place(template, 0, {}),
)

/** Takes notice of names in a map that stands where headers stand. */
export interface NameVisitor {
  /** Names that the document writes: all of a map, or the one of a `put` in the pipe. */
  readonly onWritten?: (names: readonly string[], pipe?: PipeTemplate) => void
  /** Names that a `without` takes away. */
  readonly onDropped?: (names: readonly string[]) => void
}

/** Reports the names that the document itself has in a map that stands where headers stand. */
export const visitNames = (template: Template, visitor: NameVisitor): void => {
  place(template, 0, visitor)
}

/** The value of the key in a map; names of headers are found in any case. */
export const entryOf = ({ entries, isHeaders }: MapTemplate, key: string): Template | undefined => {
  const name = isHeaders === true ? key.toLowerCase() : key
  return entries.findLast(([entryKey]) => entryKey === name)?.[1]
}

/** @param level how deep within the value the headers are: 1 in `{{variables.sets |> get(a)}}`, for the variable */
const place = (template: Template, level: number, visitor: NameVisitor): Template => {
  switch (template.kind) {
    case 'constant': {
      const value = placeValue(template.value, level, visitor)
      return value === template.value ? template : constant(value)
    }
    case 'map':
      if (level === 0) visitor.onWritten?.(template.entries.map(([name]) => name))
      return level === 0 ? template : placeMembers(template, level, visitor)
    case 'list':
      return level === 0
        ? template
        : { ...template, items: template.items.map((item) => place(item, level - 1, visitor)) }
    case 'pipe':
      return placePipe(template, level, visitor)
    case 'read':
    case 'text':
      return template
  }
}

const placeMembers = (map: MapTemplate, level: number, visitor: NameVisitor): Template => ({
  ...map,
  entries: map.entries.map(([key, value]) => [key, place(value, level - 1, visitor)] as const),
})

const placeValue = (value: Value, level: number, visitor: NameVisitor): Value => {
  if (level > 0) return placeWithin(value, level, visitor)
  if (!isMap(value)) return value
  const made = rememberedAsHeaders(value)
  visitor.onWritten?.(Object.keys(made ?? value))
  return made ?? value
}

/** The value itself, if nothing in it changes: places share it. */
const placeWithin = (value: Value, level: number, visitor: NameVisitor): Value => {
  const change = (member: Value): Value => placeValue(member, level - 1, visitor)
  if (isList(value)) {
    const items = value.map(change)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (!isMap(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [key, change(member)] as const)
  return entries.every(([key, member]) => member === value[key])
    ? value
    : Object.fromEntries(entries)
}

/** From the last call to the first: what each gives tells what it has to take. */
const placePipe = (pipe: PipeTemplate, end: number, visitor: NameVisitor): Template => {
  const calls: PipeCall[] = []
  let level: number | undefined = end
  for (const call of pipe.calls.toReversed()) {
    calls.unshift(level === undefined ? call : placeCall(call, level, { pipe, visitor }))
    const step: 0 | 1 | undefined = call.name === STEP ? 1 : functionNamed(call.name)?.level
    level = level === undefined || step === undefined ? undefined : level + step
  }
  const input = level === undefined ? pipe.input : place(pipe.input, level, visitor)
  return {
    ...pipe,
    input,
    calls: calls.map((call, index) => unmarked(call, calls[index - 1] ?? input)),
  }
}

/** What comes from a map of headers is one at run time. */
const unmarked = (call: PipeCall, before: PipeCall | Template): PipeCall => {
  const isMarked =
    'kind' in before ? before.kind === 'read' && isReadOfHeaders(before) : before.ofHeaders === true
  if (call.ofHeaders !== true || !isMarked) return call
  const { name, args } = call
  return { name, args }
}

interface Placing {
  readonly pipe: PipeTemplate
  readonly visitor: NameVisitor
}

const placeCall = (call: PipeCall, level: number, placing: Placing): PipeCall => {
  const placed = { ...call, args: placeArguments(call, level, placing) }
  return TAKES_NAMES.has(call.name) && level === 0 ? { ...placed, ofHeaders: true } : placed
}

/** Those that become a part of what the call gives. */
const placeArguments = (
  { name, args }: PipeCall,
  level: number,
  { pipe, visitor }: Placing,
): readonly PipeArgument[] => {
  const at = (arg: PipeArgument, depth: number): PipeArgument =>
    arg.kind === 'piped' || depth < 0 ? arg : place(arg, depth, visitor)
  if (name === 'merge') return args.map((arg) => at(arg, level))
  if (name === 'get') return args.map((arg, index) => (index === 0 ? arg : at(arg, level)))
  if (name === 'without' && level === 0) visitor.onDropped?.(args.flatMap(textsIn))
  if (name !== 'put') return args
  const [key] = args
  if (level === 0 && key?.kind === 'constant') visitor.onWritten?.([toText(key.value)], pipe)
  return args.map((arg, index) => (index === 0 ? arg : at(arg, level - 1)))
}

/** As far as they are known at load. */
const textsIn = (keys: PipeArgument): readonly string[] => {
  if (keys.kind === 'list') return keys.items.flatMap(textsIn)
  if (keys.kind !== 'constant') return []
  return isList(keys.value) ? keys.value.map((key) => toText(key)) : [toText(keys.value)]
}

const TAKES_NAMES: ReadonlySet<string> = new Set(['put', 'merge', 'with', 'without'])

/** Whether requests give a map of headers there. */
const isReadOfHeaders = ({ root, keys }: ReadTemplate): boolean =>
  (root === 'request' && keys.length === 1 && keys[0] === 'headers') ||
  (root === 'action' && keys.length === 2 && keys[1] === 'headers')
