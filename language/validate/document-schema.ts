// Describes documents (specification §2) in one table: each key with its schema, and whether it restricts. What operations
// inherit and what actions have is said where they are compiled, and put together here.

import { API_PARTS } from '../compile/api-parts.ts'
import { keysOn } from '../compile/inheritance.ts'
import { levelKeys } from '../compile/level-part.ts'
import { INHERITED_DEFINITIONS, INHERITED_KEYS } from '../compile/operation-parts.ts'
import { VERSION_PARTS } from '../compile/version-parts.ts'
import { METHODS } from '../document.ts'
import { ACTION_SCHEMAS } from './action-schemas.ts'
import {
  type DocumentSchema,
  FREE_MAP,
  HOLDS_EXPRESSION,
  instead,
  key,
  type Keys,
  MAP,
  ref,
  restrictingKey,
  TEXT,
} from '../schema/document-notation.ts'
import { EXAMPLE_SCHEMAS, EXAMPLES_KEY } from '../schema/example-schemas.ts'
import { SECURITY_SCHEMAS } from '../schema/security-schemas.ts'

/** A list or a map whose entries are looked at only where there are few enough of them. */
const atMost = (max: number, entry: DocumentSchema): DocumentSchema => ({
  maxProperties: max,
  if: { maxProperties: max },
  then: { additionalProperties: entry },
})

const API_KEYS: Keys = {
  ...levelKeys(API_PARTS),
  name: key('Display name.', TEXT),
  meta: key(
    'Free-form map for people and tools. deprecated_at, sunset_at (ISO 8601) and deprecation_link describe deprecated versions.',
    FREE_MAP,
  ),
  variables: key(
    'Names to values or expressions, visible to the expressions of this API as {{variables.NAME}}.',
    FREE_MAP,
  ),
  defaults: key('What versions and paths inherit where they set nothing.', ref('defaults')),
  status_codes: key('WAMP error URI to HTTP status, over the built-in table.', ref('statusCodes')),
  security: restrictingKey(
    'Who may call, where no version or path says otherwise: nearer than defaults.security. {} is anonymous; anything else must be satisfied.',
    ref('security'),
  ),
  versions: key(
    'One or more versions: a map by name, or a list whose elements are named by name, version or base_path.',
    {
      type: ['object', 'array'],
      minProperties: 1,
      maxProperties: 100,
      minItems: 1,
      maxItems: 100,
      if: { maxProperties: 100, maxItems: 100 },
      then: { additionalProperties: ref('version'), items: ref('version') },
    },
  ),
  ts: key(
    'When the document was loaded, Unix time in milliseconds. Set by the service; ignored when submitted.',
    { readOnly: true },
  ),
}

/** A path, alone or with who may read what is there. */
const PUBLISHED: DocumentSchema = {
  type: ['string', 'object'],
  if: { type: 'object' },
  then: ref('openapi'),
}

const VERSION_KEYS: Keys = {
  name: key('Name of the version, where versions is a list.', TEXT),
  version: key('Another spelling of name.', TEXT),
  base_path: key(
    'Prefix of every path of this version. Starts with /; brackets make a segment optional: /[v1.0].',
    TEXT,
    { examples: ['/v1', '/[v1.0]'] },
  ),
  paths: key(
    'Path to Path Object. A path may hold bindings (/users/:id, /files/:name.json), optional segments (/[x]) and a tail (/[...], or /[...rest] with a name). For / write /[index]; /ws is reserved.',
    { type: 'object', ...atMost(2000, ref('path')) },
  ),
  ...levelKeys(VERSION_PARTS),
  openapi: key(
    'Where the OpenAPI description of the version is served: a path below base_path, or a map with path and security. Its security is that of the version where it says none.',
    PUBLISHED,
    { examples: ['/openapi.json'] },
  ),
  docs_page: key(
    'Where people read the description of the version in a browser: a path below base_path, or a map with path and security. Its security is that of the version where it says none.',
    PUBLISHED,
    { examples: ['/docs'] },
  ),
  info: key('Free-form map, such as title and description.', FREE_MAP),
  variables: key("Names to values or expressions, over the API's.", FREE_MAP),
  defaults: key("What paths inherit where they set nothing, over the API's.", ref('defaults')),
}

const OPERATIONS: Readonly<Record<(typeof METHODS)[number], string>> = {
  delete: 'What DELETE does.',
  get: 'What GET does, and HEAD unless it is declared.',
  head: 'What HEAD does.',
  options: 'What OPTIONS does; its action may be empty. Never asks for credentials.',
  patch: 'What PATCH does.',
  post: 'What POST does.',
  put: 'What PUT does.',
}

const operationKeys: Keys = Object.fromEntries(
  METHODS.map((method) => [
    method,
    key(OPERATIONS[method], ref(method === 'options' ? 'optionsOperation' : 'operation'), {
      wished: instead('methods are keys of the path: get, post, …', 'methods'),
    }),
  ]),
)

const PATH_KEYS: Keys = {
  summary: key('Short summary.', TEXT),
  description: key('Description.', TEXT),
  variables: key(
    "Names to values or expressions, over the version's; or an expression that yields such a map.",
    MAP,
  ),
  defaults: key(
    "Defaults of the operations, over the version's; or an expression that yields such a map.",
    { ...MAP, if: { type: 'object' }, then: ref('defaults') },
  ),
  is_collection: key('Whether the resource at the path is a collection.', {
    type: 'boolean',
    default: false,
  }),
  ...keysOn('path', INHERITED_KEYS),
  ...operationKeys,
}

const operation = (description: string, action: string): DocumentSchema => ({
  ...MAP,
  description,
  properties: {
    info: key('What the operation does, for people.', { type: ['string', 'object'] }),
    examples: EXAMPLES_KEY,
    ...keysOn('operation', INHERITED_KEYS),
    action: key('What to do for the request.', ref(action)),
    response: key(
      'How to answer; the outcome of the action as it is when left out.',
      ref('response'),
    ),
  },
  required: ['action'],
})

const DEFINITIONS: Readonly<Record<string, DocumentSchema>> = {
  version: {
    type: 'object',
    description: 'Version Object.',
    properties: VERSION_KEYS,
    required: ['base_path', 'paths'],
  },
  wampWebSocket: {
    type: 'object',
    description: 'The WebSocket of a version to the WAMP router of its realm.',
    properties: { security: restrictingKey('Who may open it; {} is anybody.', ref('security')) },
    required: ['security'],
    additionalProperties: false,
  },
  openapi: {
    type: 'object',
    description: 'Where the OpenAPI description of a version is served, or shown to people.',
    properties: {
      path: key('Path below base_path, without bindings and brackets.', TEXT),
      security: restrictingKey('Who may read it; {} is anybody.', ref('security')),
    },
    required: ['path'],
    additionalProperties: false,
  },
  path: {
    type: 'object',
    description: 'Path Object: what one path does for each method. At least one method is needed.',
    properties: PATH_KEYS,
    if: { anyOf: METHODS.map((method) => ({ required: [method] })) },
    else: false,
  },
  operation: operation('Operation Object, or an expression that yields one.', 'action'),
  optionsOperation: operation(
    'Operation Object of OPTIONS, or an expression that yields one.',
    'optionsAction',
  ),
  optionsAction: {
    type: 'object',
    description: 'An action, or {}: the response is on_result then, 204 by default.',
    if: { minProperties: 1 },
    then: ref('action'),
  },
  ...ACTION_SCHEMAS,
  response: {
    type: 'object',
    description: 'Response Object: how the outcome of the action becomes a response.',
    properties: {
      on_result: key(
        'The response when the action succeeded; the outcome is {{action.result.…}}.',
        ref('outcome'),
        { wished: instead("it is called 'on_result'", 'onsuccess') },
      ),
      on_error: key(
        'The response when the action failed; the error is {{action.error.…}}. When left out, an error of an upstream passes as it is, and any other failure is the error record with the mapped status; an empty map is the error record for all.',
        ref('outcome'),
        { wished: instead("it is called 'on_error'", 'onfailure') },
      ),
    },
  },
  outcome: {
    ...MAP,
    description: 'A response, or an expression that yields one.',
    properties: {
      headers: key('Response headers by name.', MAP, { examples: ['{{request.headers}}'] }),
      body: key('Response body: any value. "" and null are an empty payload.'),
      status_code: key(
        'HTTP status, 200 to 599: a number, numeric text or an expression.',
        {
          type: ['integer', 'string'],
          pattern: `^[0-9]+$|${HOLDS_EXPRESSION.pattern}`,
          minimum: 200,
          maximum: 599,
        },
        {
          examples: [201, '{{action.error.status_code}}'],
          wished: {
            ...instead("it is called 'status_code', in on_result and on_error", 'status'),
            ...instead("it belongs in 'on_result' of the response, or in 'on_error'", 'statuscode'),
          },
        },
      ),
      uri: key('Location of what a POST has made: not empty, it makes the response a 201.', TEXT),
    },
  },
  defaults: {
    type: 'object',
    description: 'Defaults Object: what is looked up when a property is unset.',
    properties: keysOn('path', INHERITED_KEYS),
  },
  ...SECURITY_SCHEMAS,
  statusCodes: {
    type: 'object',
    ...atMost(10_000, {
      type: ['integer', 'string'],
      pattern: `^[0-9]{3}$|${HOLDS_EXPRESSION.pattern}`,
      minimum: 200,
      maximum: 599,
    }),
    description: 'Error URI to HTTP status, 200 to 599.',
  },
  ...INHERITED_DEFINITIONS,
  ...EXAMPLE_SCHEMAS,
}

export const DOCUMENT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://gateway.svc.dev/schema/api-specification.schema.json',
  title: 'API Specification',
  description:
    'One hosted API: its host, versions, paths and what each operation does. A text that holds {{…}} is an expression; where a property takes one, the text stands for the value it yields.',
  type: 'object',
  properties: API_KEYS,
  required: ['id', 'host', 'realm_uri', 'versions'],
  $defs: DEFINITIONS,
} as const
