import { describe, expect, it } from '@jest/globals'
import { misreadValues } from '../../../language/validate/misread-values.ts'

const told = (value: unknown): readonly (readonly [string, string, string])[] =>
  misreadValues({ a: value }).map(({ code, path, message }) => [code, path, message])

describe('values that are read otherwise than they look', () => {
  it.each<[unknown, string]>([
    [
      '{request.bindings.id}',
      '{request.bindings.id} is sent as it stands: write {{request.bindings.id}}',
    ],
    ['/x/{ variables.x }/y', '{variables.x} is sent as it stands: write {{variables.x}}'],
    ['{{request.id}} {request.body.a |> head}', 'write {{request.body.a |> head}}'],
    [
      '${request.bindings.id}',
      '${request.bindings.id} is sent as it stands: write {{request.bindings.id}}',
    ],
    [
      '${BACKEND}',
      '${BACKEND} is sent as it stands, as variables of the environment are not read: write {{variables.backend}}',
    ],
    ['http://${BACK-END.HOST}:80', 'write {{variables.back_end_host}}'],
    ['http://$BACKEND_1:80', '$BACKEND_1 is sent as it stands'],
    ['{{request.id}}://$A', 'write {{variables.a}}'],
  ])('%j', (text, message) => {
    expect(told(text)).toEqual([['TakenLiterally', '/a', expect.stringContaining(message)]])
  })

  it.each<[unknown, string]>([
    [{ '{ variables.x }': null }, "write '{{variables.x}}', in quotes"],
    [{ '{ request.body |> get(a, b) }': null }, "write '{{request.body |> get(a, b)}}', in quotes"],
    [{ [`{ ${'x'.repeat(500)} }`]: null }, "write '{{…}}', in quotes"],
  ])('%j', (value, message) => {
    expect(told([value])).toEqual([
      ['UnquotedExpression', '/a/0', `YAML reads an unquoted {{…}} as a map: ${message}`],
    ])
  })

  it.each(['host', 'path'])('a variable of a shell anywhere in %s', (key) => {
    expect(told({ [key]: '/a/$TENANT/b' })).toEqual([
      ['TakenLiterally', `/a/${key}`, expect.stringContaining('$TENANT is sent as it stands')],
    ])
  })

  it.each<[unknown]>([
    ['{{request.id}}'],
    ['{{request.id'],
    ['{'],
    ['{}'],
    ['${}'],
    ['{id}'],
    ['{request}'],
    ['{requests.a}'],
    ['{"request.a": 1}'],
    ['$ {{variables.price}}'],
    ['$BACKEND'],
    ['http://$backend'],
    ['http://$Backend'],
    [{ path: '/$metadata' }],
    [{ path: '/a$' }],
    ['<script>let a = `${name}`</script>'],
    ['let a = 1\nlet b = `${a}`'],
    [`{${'request.'.repeat(100)}}`],
    [{ '{ a }': 1 }],
    [{ '{ a }': null, b: null }],
    [{ '{a}': null }],
    [7],
    [null],
  ])('%j is none', (value) => {
    expect(told(value)).toEqual([])
  })

  it('are not looked for in texts for people', () => {
    const text = '{request.bindings.id}'
    expect(
      misreadValues({ meta: { a: text }, name: text, info: text, x: { summary: text } }),
    ).toEqual([])
  })

  it('are reported 1000 times at most, in time that grows with the document', () => {
    const many = Array.from({ length: 2000 }, () => '{request.id.x}')
    expect(misreadValues(many)).toHaveLength(1000)
    expect(told('{'.repeat(1_000_000))).toEqual([])
    expect(told('{a'.repeat(500_000))).toEqual([])
    expect(told(`${'{a'.repeat(500_000)}}`)).toEqual([])
  })
})
