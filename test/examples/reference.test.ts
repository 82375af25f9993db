// Checks that the reference has each key of documents and Realms, as the schemas describe it, with an example.
// snippets.test.ts validates the examples.

import { describe, expect, it } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { isList, isMap, type Value } from '../../language/expression/value.ts'
import { pagesOf, textOf } from '../support/pages.ts'
import { keysOf, OBJECTS, objectsOn, renderTables } from '../support/reference-tables.ts'
import { snippetsOf } from '../support/snippets.ts'

const PAGES = ['docs/reference/document.md', 'docs/reference/realm.md']

const keysIn = (value: Value): readonly string[] => {
  if (isList(value)) return value.flatMap(keysIn)
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...keysIn(member)])
}

/** Objects of the tables of a section → keys of its examples. */
const sections = PAGES.flatMap((page) =>
  textOf(page)
    .split(/^(?=## )/m)
    .flatMap((text) => {
      const examples = snippetsOf(page, text).flatMap((snippet) => parseAllDocuments(snippet.text))
      const keys = new Set(examples.flatMap((each) => keysIn(each.toJS() as Value)))
      return objectsOn(text).map((name) => ({ page, name, keys }))
    }),
)

describe('the reference', () => {
  it('has every object', () => {
    expect(sections.map(({ name }) => name).toSorted()).toEqual([...OBJECTS.keys()].toSorted())
  })

  it.each(PAGES)('%s is as the schemas are (make golden)', (page) => {
    expect(textOf(page)).toBe(renderTables(textOf(page)))
  })

  it.each(sections)('has an example of each key of $name', ({ name, keys }) => {
    expect(keysOf(name).length).toBeGreaterThan(0)
    expect(keysOf(name).filter((key) => !keys.has(key))).toEqual([])
  })

  it('is linked from the index of documents', () => {
    expect(pagesOf('language').map(textOf).join('')).toContain('reference/document.md')
  })
})
