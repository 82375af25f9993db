// The function table of docs/language.md: each example gives what stands beside it, and no function lacks.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { ValueMap } from '../../language/expression/value.ts'
import { functionNames } from '../../language/expression/functions/functions.ts'
import { PROBLEM_CODES } from '../../language/problem.ts'
import { evaluator } from '../../language/expression/run.ts'
import { contextOf, folded } from '../language/expression/scope-of.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/language.md'), 'utf8')

const variables: ValueMap = {
  price: 13.99,
  text: '42.0',
  flag: 'true',
  list: [3, 1, 2],
  map: { a: 1, b: 2 },
  more: { b: 3 },
  null: null,
  name: 'Ada Lovelace',
  padded: ' a b ',
}

/** Cells between bars, those that stand in code included; a bar within is written `\|`. */
const rows = [
  ...GUIDE.matchAll(/^\| `([a-z_:0-9]+)[^`]*` \|.*\| `(\{\{.*\}\})` \| `(.*)` \|$/gm),
].map(([, name = '', expression = '', result = '']) => ({
  name,
  expression: expression.replaceAll('\\|', '|'),
  result,
}))

describe('the function table', () => {
  it.each(rows)('$expression gives $result', ({ expression, result }) => {
    const { template, messages } = folded(expression, { variables })
    expect(messages).toEqual([])
    expect(evaluator(template)(contextOf())).toEqual(JSON.parse(result))
  })

  it('names every function', () => {
    const documented = new Set(rows.map(({ name }) => name))
    expect([...documented].sort()).toEqual([...functionNames()].sort())
  })
})

/** The texts of a union in a source file. */
const wordsOf = (type: string): readonly string[] => {
  const source = readFileSync(join(import.meta.dirname, '../../language/problem.ts'), 'utf8')
  const union = new RegExp(`export type ${type} =\\n((?:  \\| '\\w+'\\n)+)`).exec(source)?.[1] ?? ''
  return [...union.matchAll(/'(\w+)'/g)].map(([, word = '']) => word)
}

describe('the tables of codes', () => {
  it.each([
    ['ProblemCode', PROBLEM_CODES],
    ['WarningCode', wordsOf('WarningCode')],
  ])('have every %s', (_type, words) => {
    expect(words.length).toBeGreaterThan(8)
    expect(words.filter((word) => !GUIDE.includes(`| \`${word}\``))).toEqual([])
  })
})
