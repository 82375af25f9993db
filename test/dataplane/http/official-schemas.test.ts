// The official tests of JSON Schema 2020-12, each as a request to a gateway with the schema: but for what schemas may not
// have here, which is listed, a request is refused where its body is not valid, and nowhere else.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseJson } from '../../../base/parse-json.ts'
import type { Value } from '../../../language/expression/value.ts'
import { checkSchema } from '../../../language/json-schema/check-schema.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

interface Group {
  readonly title: string
  readonly schema: Value
  readonly tests: readonly (readonly [data: Value, isValid: boolean, title: string])[]
}

const url = new URL('../../language/json-schema/official-suite/suite.json', import.meta.url)
const suite = parseJson(readFileSync(url, 'utf8')) as Readonly<Record<string, readonly Group[]>>

/** File → how many of its schemas are refused at load: they have what needs another document, or say nothing. */
const REFUSED: Readonly<Record<string, number>> = {
  anchor: 4, // $anchor, $id
  content: 4, // contentMediaType and its like check nothing
  defs: 1, // a reference to the metaschema
  dynamicRef: 21,
  enum: 1, // an empty list
  format: 10, // formats that are not known here
  'if-then-else': 3, // then without if
  maxContains: 1, // without contains
  minContains: 1,
  ref: 22, // $id, references to other documents
  refRemote: 15,
  unevaluatedItems: 1, // $dynamicRef
  unevaluatedProperties: 1,
  vocabulary: 2,
}

let gateway: ServedGateway

beforeAll(async () => {
  gateway = await serveGateway()
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
})

const isTaken = ({ schema }: Group): boolean => checkSchema(schema).length === 0

it('are refused at load where they have what schemas may not have here', () => {
  const refused = Object.entries(suite).flatMap(([file, groups]) => {
    const count = groups.filter((group) => !isTaken(group)).length
    return count === 0 ? [] : [[file, count] as const]
  })
  expect(Object.fromEntries(refused)).toEqual(REFUSED)
})

/** Two readers may read it differently, so no schema takes it. */
const isInexact = (data: Value): boolean => Number.isInteger(data) && !Number.isSafeInteger(data)

/** Formats are asserted here, which the suite takes for annotations. */
const CHECKED = Object.entries(suite).filter(([file]) => file !== 'format')

describe('requests are refused where their bodies are not valid', () => {
  it.each(CHECKED.filter(([, groups]) => groups.some(isTaken)))('by %s', async (_file, all) => {
    const groups = all.filter(isTaken)
    const paths = groups.map(({ schema }, at): [string, unknown] => [
      `/${at}`,
      { post: { ...answers('x'), schema: { body: schema } } },
    ])
    await gateway.load(apiOf(Object.fromEntries(paths)))
    const found: string[] = []
    const expected: string[] = []
    for (const [at, { title, tests }] of groups.entries())
      for (const [data, isValid, what] of tests) {
        const { status } = await gateway.ask('POST', `/${at}`, { json: data })
        found.push(`${title}, ${what}: ${status}`)
        expected.push(`${title}, ${what}: ${isValid && !isInexact(data) ? 200 : 400}`)
      }
    expect(found).toEqual(expected)
  })
})
