// Tests what `upgrade` of a forward means, and where it does not load.

import { expect, it } from '@jest/globals'
import { compiled, faultsOf } from '../documents.ts'

const HOST = 'http://chat.test'
const at = (method: string, action: object, upgrade: unknown = ['websocket']) => ({
  paths: { '/x': { [method]: { action: { type: 'forward', host: HOST, upgrade, ...action } } } },
})

it('lets a GET open a WebSocket', () => {
  const [version] = compiled(at('get', {})).versions
  expect(version?.paths[0]?.operations.get?.action).toMatchObject({ upgrade: 'websocket' })
})

it('is nothing where it is left out', () => {
  const paths = { '/x': { get: { action: { type: 'forward', host: HOST } } } }
  const [version] = compiled({ paths }).versions
  expect(version?.paths[0]?.operations.get?.action).not.toHaveProperty('upgrade')
})

const PLACE = '/versions/v1/paths/~1x/get/action'

it.each<[string, object, readonly string[]]>([
  ['another protocol', at('get', {}, ['h2c']), [`invalid_value ${PLACE}/upgrade/0`]],
  ['none', at('get', {}, []), [`invalid_value ${PLACE}/upgrade`]],
  ['a text', at('get', {}, 'websocket'), [`invalid_datatype ${PLACE}/upgrade`]],
  ['a body', at('get', { body: { a: 1 } }), [`invalid_value ${PLACE}/body`]],
  ['a method', at('get', { http_method: 'post' }), [`invalid_value ${PLACE}/http_method`]],
  [
    'an operation other than GET',
    at('post', {}),
    ['invalid_value /versions/v1/paths/~1x/post/action/upgrade'],
  ],
])('does not load with %s', (_, document, faults) => {
  expect(faultsOf(document).map(([path, code]) => `${code} ${path}`)).toEqual(
    expect.arrayContaining([...faults]),
  )
})
