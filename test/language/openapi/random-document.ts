// Makes random documents with all that decides their OpenAPI description: bindings, optional segments, tails, security,
// media types, statuses and words.

import type { ValueMap } from '../../../language/expression/value.ts'

const SEGMENTS = [
  'orders',
  'a-b',
  'a_b',
  'v1.0',
  'by',
  'id',
  ':id',
  ':x-y',
  ':_',
  ':id.json',
  'a%20b',
  '%7Bx%7D',
  'documents:search',
  ':a,:b',
  'é',
]
const SECURITY = [
  {},
  { type: 'basic' },
  { type: 'basic', groups: ['staff'] },
  { type: 'api_key', header_name: 'x-key' },
  { type: 'api_key', header_name: "x'key" },
  { type: 'oidc' },
  { type: 'oauth2', flow: 'client_credentials', scopes: ['orders.read'] },
  { type: 'oauth2', flow: 'client_credentials', scopes: ['b'], token_path: '/other/token' },
  { type: 'oauth2', flow: 'authorization_code', scopes: ['c'] },
  [{ type: 'basic' }, {}],
  [{ type: 'oidc' }, { type: 'api_key', header_name: 'x-other' }],
]
const ACTIONS: readonly ValueMap[] = [
  { type: 'static', body: 'text' },
  { type: 'static', body: { q: '{{request.query_params.q}}' } },
  { type: 'static', headers: { 'Content-Type': 'text/html' }, body: '<p>' },
  { type: 'static' },
  { type: 'forward', host: 'http://orders' },
  { type: 'forward', host: 'http://orders', headers: { a: '{{request.headers.X-Trace}}' } },
  { type: 'wamp_call', procedure: 'com.a.b', kwargs: '{{request.body}}' },
  { type: 'wamp_publish', topic: 'com.a.b', args: ['{{request.query_params |> get(a, 1)}}'] },
  { type: 'wamp_subscribe', topic: 'com.a.b' },
]
const RESPONSES: readonly (ValueMap | undefined)[] = [
  undefined,
  { on_result: {} },
  { on_result: { status_code: 204 } },
  { on_result: { status_code: '201', body: { a: 1 }, uri: '/a' } },
  { on_result: { status_code: '{{action.result.kwargs.status |> integer}}', body: 'x' } },
  { on_result: { headers: { 'content-type': 'text/csv' }, body: 'a,b' } },
  { on_error: {} },
  { on_error: { status_code: 418, body: { error: '{{action.error.error_uri}}' } } },
  { on_error: { status_code: '{{action.error.status_code}}', body: 'no' } },
]
const EXAMPLE = { request: { body: { a: 1 } }, expect: { status_code: 200, body: ['a'] } }
const SCHEMA = {
  body: {
    $ref: '#/$defs/a',
    $defs: { a: { type: 'object', properties: { const: { $ref: '#' }, b: { enum: ['$ref'] } } } },
  },
  query_params: {
    type: 'object',
    required: ['q'],
    properties: { q: { type: 'integer' }, any: true, r: { $ref: '#/$defs/r' } },
    $defs: { r: { type: 'array', items: { type: 'string' } } },
  },
  headers: { type: 'object', properties: { 'x-a': { type: 'string' }, 'x-key': true } },
}
const RESULT = {
  properties: {
    status_code: { const: 200 },
    body: { $ref: '#/$defs/r' },
    args: { items: { $ref: '#/$defs/r' } },
  },
  $defs: { r: { type: 'object', properties: { 'a%/b': { type: 'string' } } } },
}
const INFO = [
  undefined,
  'An operation.',
  { summary: 'Short', description: 'Long {{request.method}}' },
]
const METHODS = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']
const HOSTS = ['_', 'api.acme.com', '[www.]acme.com', ':tenant.acme.com', '[...].acme.com', ':_.a']
const BASES = ['/', '/v1', '/[v1]', '/:tenant/v1', '/[a]/[b]']

/** @param random numbers in [0, 1) */
export const randomDocument = (random: () => number): ValueMap => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const chance = (share: number): boolean => random() < share
  const segments = (count: number): string => {
    let path = ''
    for (let index = 0; index < count; index++) {
      // A name may stand once in a path.
      const segment = pick(SEGMENTS).replaceAll(/:(?!_)(?=[a-z])/g, `:n${index}`)
      path += chance(0.25) ? `/[${segment}]` : `/${segment}`
    }
    return path
  }
  const operation = (): ValueMap => {
    const response = pick(RESPONSES)
    const info = pick(INFO)
    return {
      action: pick(ACTIONS),
      ...(response && { response }),
      ...(info !== undefined && { info }),
      ...(chance(0.3) && { examples: { one: EXAMPLE } }),
      ...(chance(0.3) && { schema: chance(0.5) ? SCHEMA : { ...SCHEMA, result: RESULT } }),
    }
  }
  const paths: Record<string, ValueMap> = {}
  for (let index = 0; index < 6; index++) {
    const tail = pick(['', '', '/[...]', '/[...rest]'])
    const path = segments(tail === '' ? 1 + Math.floor(random() * 3) : Math.floor(random() * 2))
    paths[`${path}${tail}`] = {
      ...(chance(0.5) && { summary: 'A path', description: 'What it is for' }),
      ...(chance(0.3) && { security: pick(SECURITY) }),
      ...(chance(0.2) && { on_refusal: { body: { no: '{{refusal.code}}' } } }),
      ...(chance(0.2) && { accepts: ['application/x-www-form-urlencoded'] }),
      [pick(METHODS)]: operation(),
      [pick(METHODS)]: operation(),
    }
  }
  return {
    id: 'com.a',
    host: pick(HOSTS),
    realm_uri: 'com.a',
    ...(chance(0.5) && { name: 'Random' }),
    versions: {
      v1: {
        base_path: pick(BASES),
        ...(chance(0.3) && { is_deprecated: true }),
        ...(chance(0.5) && {
          info: {
            title: 'Random',
            version: '1.2.3',
            contact: { name: 'a', url: 'no url' },
            license: { name: 'MIT', url: 'https://a.test' },
          },
        }),
        defaults: { security: pick(SECURITY) as ValueMap },
        paths,
      },
    },
  }
}
