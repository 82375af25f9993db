// The conformance table of the language: expression → value, failure at run time or fault at load.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { jsonWriter } from '../../../language/expression/json.ts'
import { evaluator } from '../../../language/expression/run.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { contextOf, folded } from './scope-of.ts'

interface Table {
  readonly context: Readonly<Record<string, ValueMap>>
  readonly cases: readonly { readonly expression: string; readonly expect: Value }[]
}

const table = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8')) as Table

const {
  request = {},
  action = {},
  variables = {},
  defaults = {},
  status_codes = {},
} = table.context
const known = { variables, defaults, status_codes }
const valid = table.cases.filter(({ expect: value }) => value !== 'error' && value !== 'load_error')
const failing = table.cases.filter(({ expect: value }) => value === 'error')
const invalid = table.cases.filter(({ expect: value }) => value === 'load_error')

describe('cases.json', () => {
  it.each(valid)('$expression gives $expect', ({ expression, expect: value }) => {
    const { template, messages } = folded(expression, known)
    expect(messages).toEqual([])
    expect(evaluator(template)(contextOf({ request, action }))).toEqual(value)
    expect(JSON.parse(jsonWriter(template)(contextOf({ request, action })))).toEqual(value)
  })

  it.each(failing)('$expression fails at run time', ({ expression }) => {
    const { template, messages } = folded(expression, known)
    expect(messages).toEqual([])
    const run = evaluator(template)
    expect(() => run(contextOf({ request, action }))).toThrow(ExpressionError)
  })

  it.each(invalid)('$expression is refused at load', ({ expression }) => {
    expect(folded(expression, known).messages).toHaveLength(1)
  })
})
