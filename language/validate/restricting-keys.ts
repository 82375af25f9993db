// Lists the keys of documents that restrict, by name, with where each may stand. Between versions a name is all that
// counts: wherever an older gateway does not expect one that it knows, the document is refused.

import { type Keys, RESTRICTS } from '../schema/document-notation.ts'
import { DOCUMENT_SCHEMA } from './document-schema.ts'

/** What a definition of the schema is called in messages; the others hold no keys of their own. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['version', 'a version'],
  ['defaults', 'defaults'],
  ['path', 'a path'],
  ['operation', 'an operation'],
  ['outcome', 'on_result and on_error'],
  ['networksOnly', 'a Security Object'],
])

const namesIn = (keys: Keys = {}): readonly string[] =>
  Object.entries(keys).flatMap(([name, schema]) => (schema[RESTRICTS] === true ? [name] : []))

const placesByName = (): ReadonlyMap<string, readonly string[]> => {
  const places = new Map<string, readonly string[]>()
  const add = (place: string | undefined, keys: Keys | undefined): void => {
    for (const name of namesIn(keys)) {
      const before = places.get(name) ?? []
      places.set(name, place === undefined ? before : [...before, place])
    }
  }
  add('the API', DOCUMENT_SCHEMA.properties)
  for (const [definition, { properties }] of Object.entries(DOCUMENT_SCHEMA.$defs))
    add(
      PLACES.get(definition) ?? (definition.endsWith('Action') ? 'an action' : undefined),
      properties,
    )
  return places
}

/** Name → where it may stand. */
export const RESTRICTING_KEYS = placesByName()
