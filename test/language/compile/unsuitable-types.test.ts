import { describe, expect, it } from '@jest/globals'
import type { ValueMap } from '../../../language/expression/value.ts'
import { compiledPath, problemsOf } from '../documents.ts'

const FORWARD = { type: 'forward', host: 'http://b' }
const ECHO = { type: 'static', body: '{{request.body}}' }

const faults = (path: ValueMap, api: ValueMap = {}): readonly string[] =>
  problemsOf({ api, paths: { '/x': path } }).map(({ code, path: place }) => `${code} ${place}`)

const acceptsOf = (path: ValueMap, api: ValueMap = {}): unknown =>
  compiledPath({ api, paths: { '/x': path } }).operations.post?.accepts

const AT = 'invalid_value /versions/v1/paths/~1x'
const HTML = { 'content-type': 'text/html' }
const written = (headers: unknown): ValueMap =>
  ({ action: { type: 'static', body: 'x' }, response: { on_result: { headers } } }) as ValueMap

describe('a type that cannot be read', () => {
  it.each<[string, ValueMap, readonly string[]]>([
    ['nothing reads the body', { accepts: ['*/*'], post: { action: FORWARD } }, []],
    [
      'only its length is read',
      { accepts: ['*/*'], post: { action: { ...FORWARD, path: '/{{request.body_length}}' } } },
      [],
    ],
    [
      'only types that can be read are there',
      {
        accepts: ['text/*', 'application/*+json', 'application/msgpack', 'text/xml'],
        post: { action: ECHO },
      },
      [],
    ],
    ['it is read', { accepts: ['image/png'], post: { action: ECHO } }, [`${AT}/post/action/body`]],
    [
      'members of a list and a map read it',
      {
        accepts: ['application/json', '*/*'],
        post: { action: { type: 'static', body: ['a', { b: '{{request.body}}', c: 1 }] } },
      },
      [`${AT}/post/action/body/1/b`],
    ],
    [
      'the whole request is read',
      { accepts: ['image/*'], post: { action: { type: 'static', body: '{{request}}' } } },
      [`${AT}/post/action/body`],
    ],
    [
      'the URI of a procedure reads it',
      {
        accepts: ['*/*'],
        post: { action: { type: 'wamp_call', procedure: 'com.{{request.body.a}}' } },
      },
      [`${AT}/post/action/procedure`],
    ],
    [
      'both responses and a time limit read it',
      {
        accepts: ['application/xml'],
        post: {
          timeout: '{{request.body.ms}}',
          action: FORWARD,
          response: {
            on_result: { headers: { 'x-a': '{{request.body.a}}' } },
            on_error: { body: '{{request.body}}' },
          },
        },
      },
      [
        `${AT}/post/timeout`,
        `${AT}/post/response/on_result/headers/x-a`,
        `${AT}/post/response/on_error/body`,
      ],
    ],
    [
      'headers of the path read it',
      {
        accepts: ['image/png'],
        headers: { 'x-a': '{{request.body.a}}' },
        post: { action: FORWARD },
      },
      [`${AT}/headers/x-a`],
    ],
  ])('where %s', (_, path, problems) => {
    expect(faults(path)).toEqual(problems)
  })

  it('is reported at the variable that reads the body', () => {
    expect(
      faults(
        { accepts: ['image/png'], post: { action: { type: 'static', body: '{{variables.got}}' } } },
        { variables: { got: '{{request.body}}' } },
      ),
    ).toEqual(['invalid_value /variables/got'])
  })
})

describe('where a document says nothing of what it accepts', () => {
  it.each<[string, ValueMap, ValueMap, readonly string[]]>([
    ['a forward that reads nothing takes any type', { post: { action: FORWARD } }, {}, ['*/*']],
    [
      'a forward that reads the body takes JSON and MessagePack',
      { post: { action: { ...FORWARD, path: '/{{request.body.id}}' } } },
      {},
      ['application/json', 'application/msgpack'],
    ],
    [
      'a forward that writes the body takes them too',
      { post: { action: { ...FORWARD, body: { a: 1 } } } },
      {},
      ['application/json', 'application/msgpack'],
    ],
    [
      'other actions take them too',
      { post: { action: { type: 'static', body: 'x' } } },
      {},
      ['application/json', 'application/msgpack'],
    ],
    [
      'defaults say something',
      { post: { action: FORWARD } },
      { defaults: { accepts: ['application/json; charset=utf-8'] } },
      ['application/json'],
    ],
  ])('%s', (_, path, api, accepts) => {
    expect(acceptsOf(path, api)).toEqual(accepts)
  })
})

describe('a type that nothing writes', () => {
  it.each<[string, ValueMap, readonly string[]]>([
    [
      'the response passes through',
      { provides: ['image/*', 'text/html'], get: { action: FORWARD } },
      [],
    ],
    [
      'the body is read',
      {
        provides: ['application/json', 'text/html'],
        get: {
          action: FORWARD,
          response: { on_result: { body: { a: '{{action.result.body}}' } } },
        },
      },
      [`${AT}/provides/1`],
    ],
    ['the document sets it', { provides: ['text/html'], get: written(HTML) }, []],
    [
      'the headers of the action set it',
      {
        provides: ['text/html'],
        get: { action: { type: 'static', headers: { 'Content-Type': 'text/html' }, body: 'x' } },
      },
      [],
    ],
    [
      'the headers of the path set it',
      { provides: ['text/html'], headers: HTML, get: { action: { type: 'static', body: 'x' } } },
      [],
    ],
    [
      'the headers wait for the request',
      { provides: ['text/html'], get: written('{{request.headers |> put(a, b)}}') },
      [],
    ],
    [
      'other headers are set',
      { provides: ['text/html'], get: written({ 'x-a': 'b' }) },
      [`${AT}/provides/0`],
    ],
    ['a range is set', { provides: ['text/*'], get: written(HTML) }, [`${AT}/provides/0`]],
    [
      'nothing is written',
      { provides: ['text/html'], get: { action: FORWARD }, options: { action: {} } },
      [],
    ],
    [
      'MessagePack has another name',
      { provides: ['application/x-msgpack'], get: { action: { type: 'static', body: 'x' } } },
      [`${AT}/provides/0`],
    ],
  ])('where %s', (_, path, problems) => {
    expect(faults(path)).toEqual(problems)
  })
})
