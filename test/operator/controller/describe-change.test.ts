// What the log says of a new desired state.

import { expect, it } from '@jest/globals'
import { describeChange } from '../../../operator/controller/describe-change.ts'
import { type DesiredSet, EMPTY_DESIRED } from '../../../operator/desired-set.ts'
import { aDocument, aRealm } from '../../support/desired.ts'

const desired = (
  ids: Readonly<Record<string, string>>,
  uris: readonly string[] = [],
): DesiredSet => ({
  ...EMPTY_DESIRED,
  documents: new Map(
    Object.entries(ids).map(([id, digest]) => [
      id,
      aDocument(id, { digest, resource: `shop/${id}` }),
    ]),
  ),
  realms: new Map(uris.map((uri) => [uri, aRealm(uri)])),
})
const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`d${index}`, '1']))

it.each<[string, DesiredSet, DesiredSet, object]>([
  [
    'one that has come',
    desired({}),
    desired({ a: '1' }),
    { changed: 1, first: ['ApiSpecification shop/a'] },
  ],
  [
    'one that has gone',
    desired({ a: '1' }),
    desired({}),
    { changed: 1, first: ['ApiSpecification shop/a'] },
  ],
  [
    'a realm and its documents',
    desired({}),
    desired({ a: '1', b: '1' }, ['com.shop']),
    { changed: 3, first: ['realm com.shop', 'ApiSpecification shop/a', 'ApiSpecification shop/b'] },
  ],
  [
    'more than a line should name',
    desired({}),
    desired(many),
    {
      changed: 1000,
      first: Array.from({ length: 8 }, (_, index) => `ApiSpecification shop/d${index}`),
    },
  ],
])('names %s', (_, before, after, expected) => {
  expect(describeChange(before, after)).toEqual(expected)
})
