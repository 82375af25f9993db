import { describe, expect, it } from '@jest/globals'
import type { ExampleExpectation } from '../../../language/examples/example.ts'
import {
  mismatchesOf,
  type ObservedResponse,
} from '../../../language/examples/match-expectation.ts'

const OBSERVED: ObservedResponse = {
  status_code: 200,
  headers: { 'content-type': 'application/json', 'x-count': '7' },
  body: { id: 7, tags: ['a', { b: 1, c: 2 }], owner: { name: 'carol', age: 7 }, none: null },
  sent: [{ method: 'GET', url: 'http://a/b', headers: { 'x-a': '1' }, body: '' }],
}

const at = (expected: ExampleExpectation, observed: Partial<ObservedResponse> = {}) =>
  mismatchesOf(expected, { ...OBSERVED, ...observed }).map(({ path }) => path)

describe('an expectation', () => {
  it.each<ExampleExpectation>([
    {},
    { status_code: 200 },
    { headers: { 'X-Count': 7, 'x-other': false } },
    { body: { id: 7 } },
    { body: { owner: { name: 'carol' }, none: null } },
    { body: { tags: ['a', { c: 2, b: 1 }] } },
    { sent: {} },
    { sent: true },
    { sent: { url: 'http://a/b', headers: { 'X-A': 1, 'x-b': false } } },
    { sent: [{ method: 'GET' }] },
  ])('%j is met', (expected) => {
    expect(at(expected)).toEqual([])
  })

  it.each<[ExampleExpectation, readonly string[]]>([
    [{ status_code: 201 }, ['/expect/status_code']],
    [
      { headers: { 'X-Count': 8, 'content-type': false } },
      ['/expect/headers/X-Count', '/expect/headers/content-type'],
    ],
    [{ headers: { 'x-other': 'a' } }, ['/expect/headers/x-other']],
    [
      { body: { id: '7', owner: { name: 'dave', age: 7 } } },
      ['/expect/body/id', '/expect/body/owner/name'],
    ],
    [{ body: { 'a/b': null } }, ['/expect/body/a~1b']],
    [{ body: { constructor: 1 } }, ['/expect/body/constructor']],
    [{ body: { tags: ['a'] } }, ['/expect/body/tags']],
    [{ body: { tags: ['a', { b: 1 }] } }, ['/expect/body/tags']],
    [{ body: 'text' }, ['/expect/body']],
    [{ sent: false }, ['/expect/sent']],
    [{ sent: [] }, ['/expect/sent']],
    [{ sent: [{}, {}] }, ['/expect/sent']],
    [
      { sent: { method: 'PUT', headers: { 'x-a': 2 } } },
      ['/expect/sent/method', '/expect/sent/headers/x-a'],
    ],
    [{ sent: [{ method: 'PUT' }] }, ['/expect/sent/0/method']],
  ])('%j is not met at %j', (expected, paths) => {
    expect(at(expected)).toEqual(paths)
  })

  it.each<[ExampleExpectation['sent'], readonly string[]]>([
    [false, []],
    [true, ['/expect/sent']],
    [{}, ['/expect/sent']],
  ])('sent: %j of a request by which nothing left gives %j', (sent, paths) => {
    expect(at({ sent: sent ?? null }, { sent: [] })).toEqual(paths)
  })

  it('does not speak of what was sent where that is not known', () => {
    expect(at({ sent: { method: 'PUT' } }, { sent: undefined })).toEqual([])
  })
})
