// What is kept of an object that comes again: the same document is not kept twice.

import { describe, expect, it } from '@jest/globals'
import { readOfClass } from '../../../operator/source/read-object.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { aSpecification } from '../../support/resources.ts'

const anObject = (metadata: ValueMap, document: object = aSpecification('orders')): ValueMap =>
  structuredClone({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { namespace: 'shop', name: 'orders', uid: 'u', generation: 1, ...metadata },
    spec: { document },
  }) as ValueMap

const checkedOf = (resource: ReturnType<ReturnType<typeof readOfClass>>): unknown =>
  resource !== undefined && 'checked' in resource ? resource.checked : undefined

describe('a document that comes again', () => {
  const read = readOfClass('svc')
  const before = read(anObject({ resourceVersion: '1' }))
  it.each<[string, ValueMap, boolean]>([
    ['with another status', anObject({ resourceVersion: '2' }), true],
    ['edited', anObject({ resourceVersion: '2', generation: 2 }, { id: 'x' }), false],
    ['of an object made anew', anObject({ resourceVersion: '2', uid: 'v' }), false],
    [
      'with another text and the same generation, after a restored backup',
      anObject({ resourceVersion: '2' }, { id: 'x' }),
      false,
    ],
  ])('%s', (_name, object, isSame) => {
    const after = read(object, before)
    expect(checkedOf(after) === checkedOf(before)).toBe(isSame)
    expect(after).toEqual(read(object))
  })
})
