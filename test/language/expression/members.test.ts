import { describe, expect, it } from '@jest/globals'
import {
  listAt,
  mapAt,
  mapsAt,
  memberAt,
  numberAt,
  textAt,
  textsAt,
  type Unvalidated,
} from '../../../language/expression/members.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

const BYTES = new Uint8Array(2)
/** Of every type that a value has, and of names that an object has without owning them. */
const HOSTILE = JSON.parse(
  '{"none":null,"yes":true,"seven":7,"text":"a","list":[1,{"b":2},null,["c"],"d"],"map":{"e":"f","g":1,"h":null},"own":{"__proto__":"i","constructor":"j"}}',
) as ValueMap
const MAP: ValueMap = { ...HOSTILE, bytes: BYTES }
const INHERITED = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'absent']

describe('a member of a map that was not validated', () => {
  it.each<[string, (map: ValueMap, name: string) => unknown, ValueMap, unknown]>([
    ['memberAt', memberAt, { yes: true, seven: 7, text: 'a', bytes: BYTES }, undefined],
    ['textAt', textAt, { text: 'a' }, ''],
    ['numberAt', numberAt, { seven: 7 }, undefined],
    ['listAt', listAt, { list: MAP['list'] ?? null }, []],
    ['mapsAt', mapsAt, { list: [{ b: 2 }] }, []],
    ['mapAt', mapAt, { map: MAP['map'] ?? null, own: MAP['own'] ?? null }, {}],
    ['textsAt', textsAt, { map: { e: 'f' }, own: MAP['own'] ?? null }, {}],
  ])('%s reads its own type, and nothing else', (_title, read, found, otherwise) => {
    const isMember = read === memberAt
    for (const name of [...Object.keys(MAP), ...INHERITED]) {
      if (isMember && ['list', 'map', 'own'].includes(name)) continue
      const expected = Object.hasOwn(found, name) ? found[name] : otherwise
      expect([name, read(MAP, name)]).toEqual([name, expected])
    }
  })

  it('may have any name, if it is its own', () => {
    const own = mapAt(HOSTILE, 'own')
    expect([textAt(own, '__proto__'), textAt(own, 'constructor')]).toEqual(['i', 'j'])
    expect(Object.getOwnPropertyNames(textsAt(HOSTILE, 'own'))).toEqual([
      '__proto__',
      'constructor',
    ])
    expect(textAt(mapAt(mapAt(HOSTILE, 'absent'), 'constructor'), 'name')).toBe('')
  })

  it('is named as its type says', () => {
    interface Pod {
      readonly spec?: { readonly ports?: readonly { readonly port: number }[] }
    }
    const pod: Unvalidated<Pod> = { spec: { ports: [{ port: 80 }, 'x'] } }
    const ports = mapsAt(mapAt(pod, 'spec'), 'ports')
    expect(ports.map((each) => numberAt(each, 'port'))).toEqual([80])
    // @ts-expect-error No such member.
    expect(mapAt(pod, 'spek')).toEqual({})
    // @ts-expect-error No such member.
    expect(ports.map((each) => numberAt(each, 'prot'))).toEqual([undefined])
  })
})
