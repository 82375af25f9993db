// Describes documents (specification §2) in one table: each key with its schema, and whether it restricts. What operations
// inherit and what actions have is said where they are compiled, and put together here.

import { keysOn } from '../compile/inheritance.ts'
import { LIMIT_SCHEMAS } from '../compile/limits.ts'
import { MEDIA_TYPE_SCHEMAS } from '../compile/media-types.ts'
import { INHERITED_KEYS } from '../compile/operation-parts.ts'
import { METHODS } from '../document.ts'
import { ACTION_SCHEMAS } from './action-schemas.ts'
import {
  type DocumentSchema,
  FREE_MAP,
  HOLDS_EXPRESSION,
  key,
  type Keys,
  LIST,
  listOf,
  MAP,
  oneOf,
  ref,
  restrictingKey,
  TEXT,
} from './document-notation.ts'
import { SECURITY_SCHEMAS } from './security-schemas.ts'

const ANYBODY =
  'Who may call, where no path says otherwise: nearer than defaults.security. {} is anonymous; anything else must be satisfied.'

/** A list or a map whose entries are looked at only where there are few enough of them. */
const atMost = (max: number, entry: DocumentSchema): DocumentSchema => ({
  maxProperties: max,
  if: { maxProperties: max },
  then: { additionalProperties: entry },
})

const API_KEYS: Keys = {
  id: key(
    'Globally unique identifier of the API, not beginning with _. Loading it again replaces the document.',
    { ...TEXT, minLength: 1, pattern: '^(?!_)' },
  ),
  host: key(
    'Host pattern that the Host header is matched with: a name, mydomain.:_ with one label of any name, [www.]acme.com with an optional label, [...].acme.com with any number of leading labels, or _ for every host.',
    TEXT,
  ),
  realm_uri: key('The one realm that the API targets.', TEXT),
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
  security: restrictingKey(ANYBODY, ref('security')),
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

const VERSION_KEYS: Keys = {
  name: key('Name of the version, where versions is a list.', TEXT),
  version: key('Another spelling of name.', TEXT),
  base_path: key(
    'Prefix of every path of this version. Starts with /; brackets make a segment optional: /[v1.0].',
    TEXT,
  ),
  paths: key(
    'Path to Path Object. A path may hold bindings (/users/:id), optional segments (/[x]) and a tail (/[...]). For / write /[index]; /ws is reserved.',
    { type: 'object', ...atMost(2000, ref('path')) },
  ),
  is_active: restrictingKey('Whether the version is served.', { type: 'boolean', default: true }),
  is_deprecated: key('Whether responses carry the Deprecation header.', {
    type: 'boolean',
    default: false,
  }),
  pool_size: restrictingKey(
    'Connections per upstream origin, and calls in flight per realm, that the version uses at once.',
    { type: 'integer', minimum: 1, maximum: 65536, default: 200 },
  ),
  info: key('Free-form map, such as title and description.', FREE_MAP),
  meta: key('Free-form map for people and tools.', FREE_MAP),
  variables: key("Names to values or expressions, over the API's.", FREE_MAP),
  defaults: key("What paths inherit where they set nothing, over the API's.", ref('defaults')),
  status_codes: key("WAMP error URI to HTTP status, over the API's.", ref('statusCodes')),
  security: restrictingKey(ANYBODY, ref('security')),
  wamp_websocket: restrictingKey(
    'The WebSocket to the WAMP router at /ws: false closes it, and a map has a security of its own in place of that of the version.',
    { type: ['boolean', 'object'], if: { type: 'object' }, then: ref('wampWebSocket') },
  ),
  languages: key('Language codes that Accept-Language picks from; the first one is the default.', {
    type: 'array',
    ...listOf(
      {
        ...TEXT,
        description: 'A language tag such as en or de-AT.',
        pattern: '^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$',
      },
      { maxItems: 256 },
    ),
    default: ['en'],
  }),
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
    key(OPERATIONS[method], ref(method === 'options' ? 'optionsOperation' : 'operation')),
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
      ),
      on_error: key(
        'The response when the action failed; the error is {{action.error.…}}. When left out, an error of an upstream passes as it is, and any other failure is the error record with the mapped status; an empty map is the error record for all.',
        ref('outcome'),
      ),
    },
  },
  outcome: {
    ...MAP,
    description: 'A response, or an expression that yields one.',
    properties: {
      headers: key('Response headers by name.', MAP),
      body: key('Response body: any value. "" and null are an empty payload.'),
      status_code: key('HTTP status, 200 to 599: a number, numeric text or an expression.', {
        type: ['integer', 'string'],
        pattern: `^[0-9]+$|${HOLDS_EXPRESSION.pattern}`,
        minimum: 200,
        maximum: 599,
      }),
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
  schemes: {
    ...LIST,
    ...listOf(oneOf(['http', 'https']), { minItems: 1, maxItems: 64 }),
    description: 'Each http or https.',
  },
  ...MEDIA_TYPE_SCHEMAS,
  ...LIMIT_SCHEMAS,
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
