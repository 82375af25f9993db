// Converts between a map template and its members.

import { constant, type Template } from '../expression/template.ts'
import { isMap, setOwn, type Value } from '../expression/value.ts'

/** Members of a map that is known as a map; none otherwise. */
export const membersOf = (template: Template): readonly (readonly [string, Template])[] => {
  if (template.kind === 'map') return template.entries
  if (template.kind !== 'constant' || !isMap(template.value)) return []
  return Object.entries(template.value).map(([name, value]) => [name, constant(value)])
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
