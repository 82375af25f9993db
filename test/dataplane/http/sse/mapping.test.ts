// What one event says, and how often it is worked out.

import { describe, expect, it } from '@jest/globals'
import { Context } from '../../../../dataplane/context.ts'
import { type EventPlan, prepareEvents } from '../../../../dataplane/http/sse/mapping.ts'
import type { Value, ValueMap } from '../../../../language/expression/value.ts'
import { folded } from '../../../language/expression/scope-of.ts'

const templateOf = (written: Value) => folded(written).template

const planOf = (body: Value): EventPlan =>
  prepareEvents({ isEndless: true, body: templateOf(body), failure: undefined })

const RESULT: ValueMap = { args: ['a\nb', 2], kwargs: { n: null, e: '' }, details: {} }

const contextOf = (bindings: ValueMap = {}): Context => {
  const context = new Context()
  context.request.bindings = bindings
  return context
}

describe('the data of an event', () => {
  it.each<[string, Value, string]>([
    ['a result', '{{action.result.args}}', 'data: ["a\\nb",2]\n\n'],
    ['a map', { x: '{{action.result.args |> last}}' }, 'data: {"x":2}\n\n'],
    ['a list', ['{{action.result.args |> head}}'], 'data: ["a\\nb"]\n\n'],
    ['a number', '{{action.result.args |> last}}', 'data: 2\n\n'],
    ['a text of the result', '{{action.result.args |> head}}', 'data: a\ndata: b\n\n'],
    ['a text around it', 'x\r{{action.result.args |> last}}', 'data: x\ndata: 2\n\n'],
    ['a known text', 'hello', 'data: hello\n\n'],
    ['a known map', { a: 1 }, 'data: {"a":1}\n\n'],
    ['null', '{{action.result.kwargs.n}}', 'data:\n\n'],
    ['an empty text', '{{action.result.kwargs.e}}', 'data:\n\n'],
    ['true', true, 'data: true\n\n'],
  ])('%s', (_, body, text) => {
    const { body: bytes, chunk } = planOf(body).write({ result: RESULT }, contextOf())
    expect(bytes.toString()).toBe(text)
    expect(chunk.toString()).toBe(`${bytes.length.toString(16)}\r\n${text}\r\n`)
  })

  it('bytes are base64, as text and in JSON', () => {
    const result = { args: [new Uint8Array([1, 2, 3])] }
    const texts = ['{{action.result.args |> head}}', '{{action.result.args}}'].map((body) =>
      planOf(body).write({ result }, contextOf()).body.toString(),
    )
    expect(texts).toEqual(['data: AQID\n\n', 'data: ["AQID"]\n\n'])
  })

  it('may grow to the budget of a request, separately in each event', () => {
    const plan = planOf('-{{action.result.text}}')
    const context = contextOf()
    for (let turn = 0; turn < 3; turn++)
      expect(plan.write({ result: { text: 'x'.repeat(5_000_000) } }, context).body.length).toBe(
        5_000_009,
      )
    expect(() => plan.write({ result: { text: 'x'.repeat(9_000_000) } }, context)).toThrow(
      'too large',
    )
  })
})

describe('one result for many streams', () => {
  /** Counts how often its `args` are read. */
  const counted = (): { readonly result: ValueMap; readonly reads: () => number } => {
    let reads = 0
    const result = Object.defineProperty({}, 'args', {
      enumerable: true,
      get: () => {
        reads++
        return [1, 2, 3, 4, 5, 6, 7, 8]
      },
    })
    return { result, reads: () => reads }
  }

  it.each<[string, Value, number]>([
    ['reads the result alone', { a: '{{action.result.args}}', known: [1] }, 1],
    ['reads the status codes', '{{action.result.args |> length}} {{status_codes |> size}}', 1],
    ['reads the request', ['{{request.bindings.id}}', '{{action.result.args}}'], 1000],
    [
      'reads the request in an argument',
      '{{action.result.args |> nth({{request.bindings.id}})}}',
      1000,
    ],
    ['reads the caller', { a: ['{{security}}', '{{action.result.args}}'] }, 1000],
    ['draws by lot', { a: '{{action.result.args |> random(1) |> head}}' }, 1000],
  ])('a body that %s', (_, body, times) => {
    const { result, reads } = counted()
    const plan = planOf(body)
    const texts = new Set<Buffer>()
    for (let stream = 0; stream < 1000; stream++)
      texts.add(plan.write({ result, id: '7', name: 'n' }, contextOf({ id: '1' })).body)
    expect([reads(), texts.size]).toEqual([times, times])
  })

  it('what differs per stream does', () => {
    const plan = planOf('{{request.bindings.id}} {{action.result.args |> head}}')
    const { result } = counted()
    const texts = ['a', 'b'].map((id) => plan.write({ result }, contextOf({ id })).body.toString())
    expect(texts).toEqual(['data: a 1\n\n', 'data: b 1\n\n'])
  })

  it('another name or id, or an equal result that is not the same, is another event', () => {
    const plan = planOf('{{action.result.args |> length}}')
    const { result } = counted()
    const texts = [
      { result },
      { result, id: '1' },
      { result, id: '1', name: 'n' },
      { result: { args: [] } },
      { result, id: '2', name: 'n' },
    ].map((event) => plan.write(event, contextOf()).body.toString())
    expect(texts).toEqual([
      'data: 8\n\n',
      'id: 1\ndata: 8\n\n',
      'event: n\nid: 1\ndata: 8\n\n',
      'data: 0\n\n',
      'event: n\nid: 2\ndata: 8\n\n',
    ])
  })

  it('a failure is not kept', () => {
    const plan = planOf('{{action.result.nope}}')
    const result: Record<string, Value> = {}
    expect(() => plan.write({ result }, contextOf())).toThrow('nope')
    result['nope'] = 1
    expect(plan.write({ result }, contextOf()).body.toString()).toBe('data: 1\n\n')
  })
})

describe('a failure', () => {
  it('is read from action.error', () => {
    const plan = prepareEvents({
      isEndless: true,
      body: templateOf('x'),
      failure: templateOf({ uri: '{{action.error.error_uri}}' }),
    })
    const context = contextOf()
    context.action = { error: { error_uri: 'a.b' } }
    expect(plan.failure?.(context)).toBe('{"uri":"a.b"}')
  })
})
