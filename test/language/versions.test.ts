import { describe, expect, it } from '@jest/globals'
import type { ValueMap } from '../../language/expression/value.ts'
import { namedVersions, withVersionMap } from '../../language/versions.ts'

const versionsOf = (json: string) => JSON.parse(json) as unknown

describe('namedVersions', () => {
  it.each([
    [
      'a map',
      '{"v1": {}, "__proto__": {"a": 1}, "constructor": 7}',
      ['v1', '__proto__', 'constructor'],
    ],
    ['by name before version', '[{"name": "a", "version": "b", "base_path": "/c"}]', ['a']],
    ['by version', '[{"version": "b", "base_path": "/c"}]', ['b']],
    [
      'by base_path',
      '[{"base_path": "/[v1.0]/x"}, {"name": "", "base_path": "/v2"}]',
      ['v1.0x', 'v2'],
    ],
    ['by index', '[{"base_path": "/"}, {}, 7, {"name": 5}]', ['0', '1', '2', '3']],
    ['equal names are kept', '[{"name": "a"}, {"name": "a"}]', ['a', 'a']],
    ['inherited names are none', '[{"constructor": 1}]', ['0']],
    ['neither', '"v1"', []],
    ['null', 'null', []],
  ])('%s', (_, json, names) => {
    expect(namedVersions(versionsOf(json)).map(({ name }) => name)).toEqual(names)
  })

  it('points at where they stand', () => {
    expect(namedVersions(versionsOf('{"a/b": 1}'))).toEqual([
      { name: 'a/b', pointer: '/versions/a~1b', value: 1 },
    ])
    expect(namedVersions([{ name: 'x' }])[0]?.pointer).toBe('/versions/0')
  })
})

describe('withVersionMap', () => {
  it('makes a map of an array and changes nothing else', () => {
    const document = JSON.parse(
      '{"id": "a", "__proto__": 1, "versions": [{"name": "__proto__", "x": 1}, {"name": "b"}]}',
    ) as ValueMap
    expect(JSON.stringify(withVersionMap(document))).toBe(
      '{"id":"a","__proto__":1,"versions":{"__proto__":{"name":"__proto__","x":1},"b":{"name":"b"}}}',
    )
  })

  it('leaves a map as it is', () => {
    const document = { versions: { v1: {} } }
    expect(withVersionMap(document)).toBe(document)
  })
})
