import { describe, expect, it } from '@jest/globals'
import { literalBinding, literalSegment } from '../../../language/compile/literal-segments.ts'

const matching = (expected: string | undefined): unknown =>
  expected === undefined ? undefined : expect.stringContaining(expected)

describe('a segment of a path that is plain text, and looks otherwise', () => {
  it.each([
    ['/items/{id}', "'{id}' is plain text here: write ':id' for a segment of any value"],
    ['/items/{id:int}/x', "write ':id' for"],
    ['/items/<int:id>', "write ':id' for"],
    ['/items/{}', undefined],
    ['/items/{a b}', "write ':name' for"],
    ['/[{id}]', "write ':id' for"],
    ['/items/*', "'*' is plain text here: write '[...]' at the end"],
    ['/items/**', "write '[...]' at the end"],
    ['/items/*rest', "write '[...]' at the end"],
    ['/items/{rest...}', "write '[...]' at the end"],
    ['/items/{rest*}', "write '[...]' at the end"],
    ['/items/{id}.json', 'a binding as a whole segment'],
    ['/items/:id/[...]', undefined],
    ['/items/a*b', undefined],
    [`/${'{'.repeat(100_000)}`, undefined],
  ])('%s', (path, expected) => {
    expect(literalSegment(path)).toEqual(matching(expected))
  })

  it.each([
    ['/v2/:id', "':id' is sent as it stands: write {{request.bindings.id}}"],
    ['/v2/{id}/x', "'{id}' is sent as it stands"],
    ['/v2/:other', undefined],
    ['/v2/id', undefined],
  ])('of an upstream: %s', (path, expected) => {
    expect(literalBinding(path, ['id'])?.message).toEqual(matching(expected))
  })
})
