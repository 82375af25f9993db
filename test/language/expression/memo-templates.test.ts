// What is made of equal templates is shared, and what is made of different ones never.

import { describe, expect, it } from '@jest/globals'
import { memoTemplates } from '../../../language/expression/memo-templates.ts'
import { createListShare } from '../../../language/expression/share-list.ts'
import { constant, type Template } from '../../../language/expression/template.ts'

const read = (...keys: string[]): Template => ({ kind: 'read', root: 'request', keys })
const text = (...parts: (string | Template)[]): Template => ({ kind: 'text', parts })
const pipe = (...args: Template[]): Template => ({
  kind: 'pipe',
  input: read('body'),
  calls: [{ name: 'get', args }],
  source: '{{request.body |> get(a)}}',
})

/** How many things are made of these templates. */
const countMade = (...templates: readonly Template[]): number => {
  const memo = memoTemplates((template) => ({ template }))
  return new Set(templates.map(memo)).size
}

describe('memoTemplates', () => {
  it('makes one of equal texts and equal pipes', () => {
    const [one, other] = [text('a', read('id')), text('a', read('id'))]
    expect(countMade(one, other)).toBe(1)
    expect(countMade(pipe(constant('a')), pipe(constant('a')))).toBe(1)
  })

  it.each([
    ['texts of other reads', text('a', read('id')), text('a', read('method'))],
    ['texts of other letters', text('a', read('id')), text('b', read('id'))],
    ['keys that are joined otherwise', text(read('a', 'b')), text(read('a.b'))],
    ['pipes with other arguments', pipe(constant('a')), pipe(constant('b'))],
    [
      'bytes and the map that has their JSON',
      pipe(constant(new Uint8Array([1]))),
      pipe(constant({ 0: 1 })),
    ],
  ])('tells %s apart', (_name, one, other) => {
    expect(countMade(one, other)).toBe(2)
  })

  it('remembers a bounded number', () => {
    const memo = memoTemplates((template) => ({ template }))
    for (let index = 0; index < 5000; index++) memo(text(`${index}`, read('id')))
    expect(memo(text('late', read('id')))).not.toBe(memo(text('late', read('id'))))
  })
})

describe('createListShare', () => {
  const [a, b, own] = [{ name: 'a' }, { name: 'b' }, { name: 'own' }]
  const share = createListShare<{ readonly name: string }>((item) => item !== own)

  it('gives one list to equal ones, and their own to others', () => {
    const first = share([a, b])
    expect(share([a, b])).toBe(first)
    expect(share([b, a])).toEqual([b, a])
    expect(share([a])).toEqual([a])
  })

  it('leaves a list alone that has something of its own', () => {
    const list = [a, own]
    expect(share(list)).toBe(list)
    expect(share([a, own])).not.toBe(list)
  })
})
