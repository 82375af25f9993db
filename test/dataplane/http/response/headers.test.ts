import { describe, expect, it } from '@jest/globals'
import { headerOf, prepareHeaders } from '../../../../dataplane/http/response/headers.ts'
import { ExpressionError } from '../../../../language/expression/errors.ts'
import { constant, type Template } from '../../../../language/expression/template.ts'
import type { Value } from '../../../../language/expression/value.ts'
import { contextOf } from '../../../language/expression/scope-of.ts'

const read: Template = { kind: 'read', root: 'request', keys: ['x'] }
const mapOf = (entries: readonly (readonly [string, Template])[]): Template => ({
  kind: 'map',
  entries,
})
/** What the header `x` becomes when the request's `x` is this. */
const write = (value: Value) =>
  prepareHeaders(mapOf([['X', read]])).write(contextOf({ request: { x: value } }))

describe('header values', () => {
  it.each<[Value, readonly string[]]>([
    ['a', ['a']],
    ['', ['']],
    [7, ['7']],
    [true, ['true']],
    [null, []],
    [
      ['a', 1],
      ['a', '1'],
    ],
    [[], []],
    ['a\tb', ['a\tb']],
    ['é', ['\u00c3\u00a9']],
    ['€', ['\u00e2\u0082\u00ac']],
  ])('%j', (value, values) => {
    expect(write(value)).toEqual(values.map((text) => ['x', text]))
  })

  it.each<[string, Value]>([
    ['a line break', 'a\r\nset-cookie: b'],
    ['a null', '\0'],
    ['a map', { a: 1 }],
    ['a list of lists', [['a']]],
    ['bytes', Uint8Array.of(1)],
    ['a line break in a list', ['a', '\n']],
  ])('%s is refused', (_, value) => {
    expect(() => write(value)).toThrow(ExpressionError)
  })
})

describe('headers that name one large value many times', () => {
  const request = { x: 'v'.repeat(2 ** 16) }
  const many = (count: number) =>
    prepareHeaders(mapOf(Array.from({ length: count }, (_, at) => [`x-${at}`, read] as const)))

  it('have a bounded number of characters together', () => {
    expect(many(15).write(contextOf({ request }))).toHaveLength(15)
    expect(() => many(1000).write(contextOf({ request }))).toThrow('together they have more than')
    const listed = { x: Array.from({ length: 1000 }, () => request.x) }
    expect(() => many(1).write(contextOf({ request: listed }))).toThrow(ExpressionError)
  })

  it('are left out of an error beyond that', () => {
    expect(many(1000).writeWhatIsKnown(contextOf({ request }))).toHaveLength(15)
  })
})

describe("the gateway's cookies", () => {
  const cookies = ['a=1', 'svc_ticket_com.acme=x; Path=/', ' svc_csrf_x=1', '=__Host-svc_oidc_1=x']

  it('are left out of what a document sets, whatever it is made of', () => {
    const template = mapOf([
      ['Set-Cookie', read],
      ['X-Cookie', constant('svc_ticket_x=1')],
    ])
    const kept = [
      ['set-cookie', 'a=1'],
      ['x-cookie', 'svc_ticket_x=1'],
    ]
    const context = contextOf({ request: { x: cookies } })
    expect(prepareHeaders(template).write(context)).toEqual(kept)
    expect(prepareHeaders(template).writeWhatIsKnown(context)).toEqual(kept)
    const map = { 'set-cookie': cookies, 'X-Cookie': 'svc_ticket_x=1' }
    expect(prepareHeaders(constant(map)).constant).toEqual(kept)
    expect(prepareHeaders(read).write(contextOf({ request: { x: map } }))).toEqual(kept)
    expect(write('svc_ticket_x=1')).toEqual([['x', 'svc_ticket_x=1']])
  })
})

describe('header names', () => {
  it('are lower case; those of framing and hop by hop are left out', () => {
    const headers = constant({
      'X-A': 'a',
      'Content-Length': '1',
      connection: 'close',
      'Transfer-Encoding': 'chunked',
      'keep-alive': 'x',
      TE: 'x',
      trailer: 'x',
      upgrade: 'x',
      __proto__: 'none',
    })
    expect(prepareHeaders(headers).constant).toEqual([['x-a', 'a']])
  })

  it.each<[string, Template]>([
    ['of a map that is known', constant({ 'X-A': '1', b: '2', 'x-a': '3' })],
    [
      'of a map in which one waits',
      mapOf([
        ['x-a', read],
        ['b', constant('2')],
        ['X-A', constant('3')],
      ]),
    ],
    ['of a map that a request gives', { kind: 'read', root: 'request', keys: ['map'] }],
  ])('are one whatever their case, %s: the last one counts', (_, template) => {
    const request = { x: '1', map: { 'X-a': '1', b: '2', 'x-A': '3' } }
    const writer = prepareHeaders(template)
    const expected = [
      ['x-a', '3'],
      ['b', '2'],
    ]
    expect(writer.write(contextOf({ request }))).toEqual(expected)
    expect(writer.writeWhatIsKnown(contextOf({ request }))).toEqual(expected)
  })

  it('that lack a value at last are left out, as null', () => {
    const template = mapOf([
      ['x-a', constant('1')],
      ['X-A', read],
    ])
    expect(prepareHeaders(template).write(contextOf({ request: { x: null } }))).toEqual([])
    expect(prepareHeaders(template).writeWhatIsKnown(contextOf())).toEqual([])
  })

  it('a reserved word is a name like others', () => {
    const headers = constant(JSON.parse('{"__proto__": "p", "constructor": "c"}') as Value)
    const list = prepareHeaders(headers).write(contextOf())
    expect(list).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ])
    expect(headerOf(list, 'toString')).toBeUndefined()
  })

  it.each(['', 'a b', 'a:b', 'ä'])('%p is refused', (name) => {
    expect(() => prepareHeaders(constant({ [name]: 'x' }))).toThrow(ExpressionError)
    expect(() =>
      prepareHeaders(mapOf([[name, read]])).write(contextOf({ request: { x: '' } })),
    ).toThrow(ExpressionError)
  })
})

describe('what is known of headers', () => {
  const entries = mapOf([
    ['a', constant('1')],
    ['b', read],
    ['c', { kind: 'read', root: 'request', keys: ['y'] }],
  ])

  it('leaves out entries that fail, one by one', () => {
    const writer = prepareHeaders(entries)
    expect(writer.constant).toBeUndefined()
    expect(writer.writeWhatIsKnown(contextOf({ request: { x: '2' } }))).toEqual([
      ['a', '1'],
      ['b', '2'],
    ])
    expect(() => writer.write(contextOf({ request: { x: '2' } }))).toThrow(ExpressionError)
  })

  it('a map that one expression gives is whole or not at all', () => {
    const writer = prepareHeaders(read)
    expect(writer.write(contextOf({ request: { x: { A: 'b' } } }))).toEqual([['a', 'b']])
    expect(writer.writeWhatIsKnown(contextOf())).toEqual([])
    expect(() => writer.write(contextOf({ request: { x: 'a' } }))).toThrow(/did not yield a map/)
  })

  it('never hides a fault of the program', () => {
    const broken = contextOf()
    Object.defineProperty(broken, 'request', {
      get: () => {
        throw new TypeError('broken')
      },
    })
    expect(() => prepareHeaders(entries).writeWhatIsKnown(broken)).toThrow(TypeError)
  })

  it('of no map are none', () => {
    expect(prepareHeaders(constant('x')).constant).toEqual([])
  })
})
