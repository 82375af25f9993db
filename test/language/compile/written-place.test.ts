import { describe, expect, it } from '@jest/globals'
import { type Culprit, writtenPlaces } from '../../../language/compile/written-place.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

const READ: Culprit = { read: { kind: 'read', root: 'request', keys: ['bindings', 'x'] }, key: 2 }

const DOCUMENT: ValueMap = {
  variables: {
    plain: 'a',
    alias: '{{variables.plain}}',
    map: { inner: '{{request.bindings.x}}', deep: ['{{variables.plain}}'] },
    text: 'to {{request.bindings.x}}',
    indirect: 'via {{variables.text}}',
    loop: '{{variables.loop2}}',
    loop2: '{{variables.loop}}',
    secret: 'seen',
  },
  versions: {
    v1: {
      variables: { plain: 'b', text: '{{variables.text}}!' },
      paths: {
        '/x': {
          variables: { plain: 'c' },
          get: {
            host: '{{variables.plain}}',
            alias: '{{variables.alias}}',
            body: '{{variables.map}}',
            path: '/{{variables.text}}/{{variables.indirect}}',
            call: '{{request.body |> get({{request.bindings.x}}) |> nth(a)}}',
            own: '/y/{{ request.bindings . x }}',
            loop: '{{variables.loop}}',
            secret: '{{variables.secret}}',
          },
        },
        '/y': { variables: '{{variables.map}}', get: { host: '{{variables.plain}}' } },
      },
    },
  },
}

const GET = '/versions/v1/paths/~1x/get'

describe('where a text is written', () => {
  it.each<[string, string, Culprit | undefined, string]>([
    ['itself', '/variables/plain', undefined, '/variables/plain'],
    ['of the nearest level', `${GET}/host`, undefined, '/versions/v1/paths/~1x/variables/plain'],
    ['as the level above sees it', `${GET}/alias`, undefined, '/variables/plain'],
    ['in a map', `${GET}/body/deep/0`, undefined, '/variables/plain'],
    ['a member that is not there', `${GET}/body/none`, undefined, '/variables/map+/none'],
    ['in a circle', `${GET}/loop`, undefined, '/variables/loop2'],
    ['in a Secret', `${GET}/secret`, undefined, `${GET}/secret`],
    [
      'one of many',
      '/versions/v1/paths/~1y/get/host',
      undefined,
      '/versions/v1/paths/~1y/get/host',
    ],
    ['a read', `${GET}/own`, READ, `${GET}/own:25`],
    ['a read in a map', `${GET}/body/inner`, READ, '/variables/map/inner:19'],
    ['a read in a text that names itself', `${GET}/path`, READ, '/variables/text:22'],
    ['a read in an argument', `${GET}/call`, READ, `${GET}/call:41`],
    [
      'a function',
      `${GET}/call`,
      { source: String(at(GET, 'call')), call: 'nth' },
      `${GET}/call:49`,
    ],
    ['a text', `${GET}/own`, { text: '/y' }, `${GET}/own:0`],
    ['what is not found', `${GET}/own`, { text: '/z' }, `${GET}/own`],
  ])('%s', (_, pointer, culprit, expected) => {
    const { path, beyond, offset } = writtenPlaces(DOCUMENT, { secret: 'hidden' })(pointer, culprit)
    const rest = `${beyond && `+${beyond}`}${offset === undefined ? '' : `:${offset}`}`
    expect(`${path}${rest}`).toBe(expected)
  })

  it('is not looked for without end where there is much to read', () => {
    const large = '{{request.id}}'.repeat(4000)
    const find = writtenPlaces({ variables: { large }, x: '{{variables.large}}' })
    const places = Array.from({ length: 200 }, () => find('/x', READ).path)
    expect(places[0]).toBe('/variables/large')
    expect(places.at(-1)).toBe('/x')
  })
})

function at(pointer: string, key: string): unknown {
  const keys = pointer.split('/').slice(1)
  let value: unknown = DOCUMENT
  for (const each of [...keys, key])
    value = (value as Record<string, unknown>)[each.replaceAll('~1', '/')]
  return value
}
