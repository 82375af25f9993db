import { describe, expect, it } from '@jest/globals'
import { compiledGet, faultsOf, foldedBody } from '../documents.ts'

const constant = (value: unknown) => ({ kind: 'constant', value })
const version = { status_codes: { 'a.b': 404 } }
const api = {
  status_codes: { 'a.b': 410 },
  variables: {
    code: '{{status_codes |> get(a.b)}}',
    list: ['{{variables.code}}', 1],
    two: ['a', 'b'],
  },
}

describe('reads of status codes', () => {
  it.each<[string, string | object, unknown]>([
    ['a value', '{{status_codes |> get(a.b)}}', 404],
    ['a variable of the API', '{{variables.code}}', 404],
    ['within a list', '{{variables.list}}', [404, 1]],
    ['within a text', 'x{{variables.code}}y', 'x404y'],
    ['by the name of defaults', '{{defaults.status_codes |> get(a.b)}}', 404],
    ['what the built-in table has', '{{status_codes |> get(svc.error.not_found)}}', 404],
    ['a default', '{{status_codes |> get(constructor, 500)}}', '500'],
  ])('%s: the codes of the version', (_, body, value) => {
    expect(foldedBody(body as string, { api, version })).toEqual(constant(value))
  })

  it('become values beside what waits', () => {
    expect(
      foldedBody(
        { a: '{{variables.code}}', b: ['{{request.id}}', '{{variables.code}}'] },
        { api, version },
      ),
    ).toMatchObject({
      kind: 'map',
      entries: [
        ['a', constant(404)],
        ['b', { kind: 'list', items: [{ kind: 'read' }, constant(404)] }],
      ],
    })
  })

  it('wait where the same pipe or text waits for something else', () => {
    for (const body of [
      '{{status_codes |> get({{request.body}})}}',
      '{{request.id}}{{variables.code}}',
    ])
      expect(JSON.stringify(foldedBody(body, { api, version }))).toContain('"status_codes"')
  })

  it.each([
    '{{variables.two |> random(1)}}',
    ['{{status_codes |> get(a.b)}}', '{{variables.two |> random(1)}}'],
    '{{status_codes |> get(a.b)}}{{variables.two |> random(1)}}',
  ])('random is never drawn at load: %j', (body) => {
    expect(JSON.stringify(foldedBody(body, { api, version }))).toContain('"random"')
  })

  it('that fail are faults of the document', () => {
    const body = { deep: ['{{status_codes |> get(nobody)}}', '{{request.id}}'] }
    const paths = { '/x': { get: { action: { type: 'static', body } } } }
    expect(faultsOf({ api, version, paths })).toEqual([
      ['/versions/v1/paths/~1x/get/action/body/deep/0', 'invalid_expression'],
    ])
  })

  it('in headers that are inherited wait', () => {
    const defaults = { headers: { x: '{{variables.code}}' } }
    expect(compiledGet({ api: { ...api, defaults }, version }).reads).toEqual(['status_codes'])
  })
})
