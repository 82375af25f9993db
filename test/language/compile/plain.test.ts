import { describe, expect, it } from '@jest/globals'
import { INVALID } from '../../../language/expression/fold.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import { toPlain } from '../../../language/compile/plain.ts'

const read: Template = { kind: 'read', root: 'request', keys: ['id'] }

describe('toPlain', () => {
  it.each<[string, Template, string]>([
    ['a constant', constant({ a: [1, null] }), '{"a":[1,null]}'],
    ['a read', read, '"{{…}}"'],
    ['a text', { kind: 'text', parts: ['a', read] }, '"{{…}}"'],
    ['a pipe', { kind: 'pipe', input: read, calls: [], source: '' }, '"{{…}}"'],
    ['a fault', INVALID, '"{{…}}"'],
    ['a list', { kind: 'list', items: [constant(1), read, INVALID] }, '[1,"{{…}}","{{…}}"]'],
    [
      'a map with a reserved word',
      {
        kind: 'map',
        entries: [
          ['__proto__', read],
          ['b', constant(true)],
        ],
      },
      '{"__proto__":"{{…}}","b":true}',
    ],
  ])('%s', (_, template, json) => {
    expect(JSON.stringify(toPlain(template))).toBe(json)
  })
})
