// Maps as templates: their members in, and out again.

import { constant, type Template } from './expression/template.ts'
import { isMap, setOwn, type Value, type ValueMap } from './expression/value.ts'

type Members = readonly (readonly [name: string, member: Template])[]

/** Of a constant map: listed once, however many paths inherit it. */
const known = new WeakMap<ValueMap, Members>()

/** Members of a map that is known as a map; none of anything else. */
export const membersOf = (template: Template): Members => {
  if (template.kind === 'map') return template.entries
  return template.kind === 'constant' && isMap(template.value) ? listMembers(template.value) : []
}

const listMembers = (map: ValueMap): Members => {
  const before = known.get(map)
  if (before !== undefined) return before
  const members = Object.entries(map).map(([key, value]) => [key, constant(value)] as const)
  known.set(map, members)
  return members
}

/** The map of these members: a constant where all of them are. */
export const toMapTemplate = (members: ReadonlyMap<string, Template>): Template => {
  const value: Record<string, Value> = {}
  for (const [key, template] of members) {
    if (template.kind !== 'constant') return { kind: 'map', entries: [...members] }
    setOwn(value, key, template.value)
  }
  return constant(value)
}
