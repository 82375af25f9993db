// A word in a case that the runner does not know must never be passed over.

import { describe, expect, it } from '@jest/globals'
import { parseCaseFile } from './case-file.ts'

describe('parseCaseFile', () => {
  it('fills in what may be left out', () => {
    const file = parseCaseFile('a-b.json', '{"steps": [{"name": "x", "wait_ms": 1}]}')
    expect(file).toEqual({
      stem: 'a-b',
      realms: [{ uri: '@REALM@', description: 'conformance' }],
      documents: {},
      load: [],
      steps: [{ name: 'x', wait_ms: 1 }],
    })
  })

  it.each([
    ['{"step": []}', 'f.json/step'],
    ['{"steps": [{"expects": {}}]}', 'f.json/steps/0/expects'],
    ['{"steps": [{"request": {"path": "/", "cookie": 1}}]}', 'f.json/steps/0/request/cookie'],
    ['{"steps": [{"expect": {"any_of": [{"staus": 1}]}}]}', 'f.json/steps/0/expect/any_of/0/staus'],
    [
      '{"steps": [{"then": [{"together": [{"constructor": 1}]}]}]}',
      'f.json/steps/0/then/0/together/0/constructor',
    ],
    [
      '{"steps": [{"expect": {"upstream": [{"first": 1}]}}]}',
      'f.json/steps/0/expect/upstream/0/first',
    ],
    ['{"load": [{"form": "base"}]}', 'f.json/load/0/form'],
    ['{"steps": [7]}', 'f.json/steps/0'],
  ])('%s', (text, place) => {
    expect(() => parseCaseFile('f.json', text)).toThrow(`${place}: `)
  })
})
