// What is served and loaded in the benchmarks.

export const LARGE_BYTES = 1024 * 1024

export const STATIC_BODY = {
  id: 42,
  name: 'An item',
  price: 13.99,
  tags: ['a', 'b', 'c'],
  description: 'x'.repeat(100),
}

/** 200 bytes of JSON. */
export const SMALL_BODY = JSON.stringify({ filler: 'x'.repeat(200 - '{"filler":""}'.length) })

export const REALM = { uri: 'bench' }

export const get = (action: object, response: object = {}): object => ({
  get: { action, response },
})

/** Ten expressions. */
export const RENDERED_BODY = {
  id: '{{request.bindings.id}}',
  method: '{{request.method}}',
  path: '{{request.path}}',
  query: '{{request.query_string}}',
  language: '{{request.language}}',
  host: '{{request.host}}',
  scheme: '{{request.scheme}}',
  request: '{{request.id}}',
  port: '{{request.port}}',
  text: 'item {{request.bindings.id}} by {{request.method}}',
}

/** The document of the static, rendered and forward tables. */
export const mainDocument = (upstream: string): object => ({
  id: 'bench.main',
  host: '_',
  realm_uri: 'bench',
  versions: {
    v1: {
      base_path: '/v1',
      paths: {
        '/static': get({ type: 'static', body: STATIC_BODY }),
        '/items/:id': get({ type: 'static', body: RENDERED_BODY }),
        '/small': get({ type: 'forward', host: upstream, path: '/small' }),
        '/large': get({ type: 'forward', host: upstream, path: '/large' }),
      },
    },
  },
})

/** One of many: 20 paths, each a body of 10 expressions. */
export const manyDocument = (index: number): object => ({
  id: `bench.${index}`,
  host: `host-${index}.bench.test`,
  realm_uri: 'bench',
  variables: { tenant: `tenant-${index}`, cors: { 'access-control-allow-origin': '*' } },
  defaults: { headers: '{{variables.cors}}' },
  versions: {
    v1: {
      base_path: '/v1',
      paths: Object.fromEntries(
        Array.from({ length: 20 }, (_, path) => [
          `/resource-${path}/:id`,
          get({
            type: 'static',
            body: { ...RENDERED_BODY, tenant: '{{variables.tenant}}', path_index: path },
          }),
        ]),
      ),
    },
  },
})
