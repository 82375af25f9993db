// Lists what the JSON Schema for editors offers to insert beside the snippets of single actions and security schemes. Data
// only.

import type { ValueMap } from '../../language/expression/value.ts'
import { API_VERSION } from '../../operator/resource/resource.ts'

const HELLO = {
  get: {
    action: { type: 'static', body: { text: 'Hello {{request.bindings.name}}' } },
  },
}

/** `defaultSnippets` of the YAML and JSON language servers: `$1` is where the cursor goes first. */
const ROOT = [
  {
    label: 'ApiSpecification',
    description: 'A resource with an API that responds statically',
    body: {
      apiVersion: API_VERSION,
      kind: 'ApiSpecification',
      metadata: { name: '${1:orders}' },
      spec: {
        document: {
          id: '${2:com.example.orders}',
          host: '${3:api.example.com}',
          realm_uri: '${4:com.example}',
          versions: { v1: { base_path: '/v1', paths: { '/hello/:name': HELLO } } },
        },
      },
    },
  },
  {
    label: 'Realm',
    description: 'A resource with the users and the WAMP router of APIs',
    body: {
      apiVersion: API_VERSION,
      kind: 'Realm',
      metadata: { name: '${1:example}' },
      spec: { uri: '${2:com.example}' },
    },
  },
] as const satisfies readonly ValueMap[]

const INSIDE = {
  label: 'networks: from these networks without credentials',
  body: { networks: ['${1:10.0.0.0/8}'] },
} as const satisfies ValueMap

/** Snippets by the name of the definition in the schema of documents. */
const DEFINITIONS: Readonly<Record<string, readonly ValueMap[]>> = {
  security: [
    {
      label: 'a list: a key, or user name and password',
      body: [{ type: 'api_key', header_name: '${1:x-api-key}' }, { type: 'basic' }],
    },
    {
      label: 'a list: from these networks, or with credentials',
      body: [INSIDE.body, { type: '${2:basic}' }],
    },
    INSIDE,
  ],
  securityObject: [INSIDE],
  example: [
    {
      label: 'an example with its response',
      body: {
        request: { bindings: { '${1:id}': '${2:7}' } },
        given: { status_code: 200, body: { '${3:id}': '${2:7}' } },
        expect: { status_code: 200, body: { '${3:id}': '${2:7}' } },
      },
    },
  ],
  path: [
    {
      label: 'get: respond statically',
      body: { get: { action: { type: 'static', body: '${1:text}' } } },
    },
    {
      label: 'get: forward to an upstream',
      body: { get: { action: { type: 'forward', host: '${1:http://orders:8080}' } } },
    },
    {
      label: 'post: call a WAMP procedure',
      body: {
        post: {
          action: {
            type: 'wamp_call',
            procedure: '${1:com.example.orders.create}',
            kwargs: '{{request.body}}',
          },
        },
      },
    },
  ],
}

export const SNIPPETS = { root: ROOT, definitions: DEFINITIONS }
