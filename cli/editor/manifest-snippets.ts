// Lists what the JSON Schema for editors offers to insert, and the example values that it shows. Data only.

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

/** By the name of the definition in the schema of documents. */
const DEFINITIONS: Readonly<Record<string, readonly ValueMap[]>> = {
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
  action: [
    { label: 'static', body: { type: 'static', body: '${1:text}' } },
    { label: 'forward', body: { type: 'forward', host: '${1:http://orders:8080}' } },
    { label: 'wamp_call', body: { type: 'wamp_call', procedure: '${1:com.example.orders.get}' } },
    { label: 'wamp_publish', body: { type: 'wamp_publish', topic: '${1:com.example.orders}' } },
    { label: 'wamp_subscribe', body: { type: 'wamp_subscribe', topic: '${1:com.example.orders}' } },
  ],
  securityScheme: [
    { label: 'basic', body: { type: 'basic', groups: ['${1:staff}'] } },
    { label: 'api_key', body: { type: 'api_key', header_name: '${1:x-api-key}' } },
    {
      label: 'oauth2',
      body: { type: 'oauth2', flow: 'client_credentials', scopes: ['${1:read}'] },
    },
    { label: 'oidc', body: { type: 'oidc', provider: '${1:default}' } },
  ],
}

export const SNIPPETS = { root: ROOT, definitions: DEFINITIONS }

/** By the name of the property, wherever it stands. */
export const EXAMPLES: Readonly<Record<string, readonly (string | number)[]>> = {
  base_path: ['/v1', '/[v1.0]'],
  host: ['api.example.com', '[www.]example.com', '_'],
  realm_uri: ['com.example'],
  id: ['com.example.orders'],
  timeout: [5000],
  retries: [2],
  status_code: [201, '{{action.error.status_code}}'],
  procedure: ['com.example.orders.get'],
  topic: ['com.example.orders.created'],
  path: ['/orders/{{request.bindings.id}}'],
  headers: ['{{request.headers}}'],
}
