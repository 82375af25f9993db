// Describes the examples of an operation, which are for people and tools: gateways get of them what an OpenAPI description shows, and read no more.

import { type DocumentSchema, FREE_MAP, key, ref, TEXT } from './document-notation.ts'

const MOST_EXAMPLES = 100

export const EXAMPLES_KEY = key(
  'Examples by name, each a request with the response to it, for people and tools. Operators do not send them to gateways, but for bodies and statuses where the version has openapi or docs_page.',
  {
    type: 'object',
    maxProperties: MOST_EXAMPLES,
    if: { maxProperties: MOST_EXAMPLES },
    then: { additionalProperties: ref('example') },
  },
)

/** A text, number or truth value of a URL or header. */
const SCALAR: DocumentSchema = { type: ['string', 'number', 'boolean'] }
const SCALARS: DocumentSchema = { type: 'object', additionalProperties: SCALAR }
const NAMES: DocumentSchema = { type: 'array', items: TEXT }

/** For a pattern: schemas have no flag for it. */
const inAnyCase = (name: string): string =>
  name.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)

/** Headers that carry credentials of clients: none stand in documents. */
const CREDENTIAL_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key']
const NO_CREDENTIAL: DocumentSchema = {
  not: { pattern: `^(${CREDENTIAL_HEADERS.map(inAnyCase).join('|')})$` },
}

export const EXAMPLE_SCHEMAS: Readonly<Record<string, DocumentSchema>> = {
  example: {
    type: 'object',
    description:
      'An example of an operation: what is asked, what the action yields, and the response.',
    properties: {
      description: key('What it shows.', TEXT),
      request: key('What a client sends; {} when left out.', ref('exampleRequest')),
      given: key(
        'What the action yields, or {error: …}; a list has one for each attempt. Without it nothing may be sent.',
        {
          type: ['object', 'array'],
          maxItems: 100,
          if: { type: 'object' },
          then: ref('exampleResult'),
          else: { items: ref('exampleResult') },
        },
      ),
      expect: key(
        'What must come of it; members that are not named may be anything.',
        ref('exampleExpectation'),
      ),
    },
    required: ['expect'],
    additionalProperties: false,
  },
  exampleRequest: {
    type: 'object',
    description: 'The request of an example. It has no credentials: as says who calls.',
    properties: {
      method: key('Method; that of the operation when left out.', {
        type: 'string',
        pattern: '^[A-Z]+$',
      }),
      host: key("Host header; the document's host when left out.", TEXT),
      scheme: key('http or https; http when left out, if it is served.', {
        enum: ['http', 'https'],
      }),
      path: key('The whole path as it is sent, a query with it, in place of bindings.', {
        type: 'string',
        pattern: '^/',
      }),
      bindings: key('Values of the bindings of host and path.', SCALARS),
      query_params: key('Query parameters; a list is sent repeatedly.', {
        type: 'object',
        additionalProperties: { type: ['string', 'number', 'boolean', 'array'] },
      }),
      headers: key('Headers by name, without credentials.', {
        ...SCALARS,
        propertyNames: NO_CREDENTIAL,
      }),
      body: key('A text as it is sent; any other value as JSON.'),
      address: key('Address of the client; 127.0.0.1 when left out.', {
        type: 'string',
        pattern: '^[0-9a-fA-F.:]+$',
      }),
      as: key('Who calls, in place of credentials; anonymous when left out.', ref('exampleCaller')),
    },
    additionalProperties: false,
  },
  exampleCaller: {
    type: 'object',
    description: 'The caller of an example, whose credentials count as right.',
    properties: {
      authid: key('Name of the caller.', { type: 'string', minLength: 1 }),
      groups: key('Its groups.', NAMES),
      roles: key('Its roles; its groups when left out.', NAMES),
      scopes: key('Scopes of its token.', NAMES),
      meta: key('What the Realm knows of it.', FREE_MAP),
      type: key(
        'The scheme, where security lists several; the first that lets it in when left out.',
        TEXT,
      ),
    },
    required: ['authid'],
    additionalProperties: false,
  },
  exampleResult: {
    type: 'object',
    description: 'What an upstream or a procedure yields.',
    properties: {
      status_code: key('Status of the upstream; 200 when left out.', {
        type: 'integer',
        minimum: 200,
        maximum: 599,
      }),
      headers: key('Headers of the upstream by name.', SCALARS),
      body: key('Body of the upstream: a text as it is, any other value as JSON.'),
      args: key('Arguments of the result of a procedure.', { type: 'array' }),
      kwargs: key('Named arguments of the result of a procedure.', FREE_MAP),
      details: key('Details of the result of a procedure.', FREE_MAP),
      error: key('Why it fails.', ref('exampleError')),
    },
    additionalProperties: false,
  },
  exampleError: {
    type: 'object',
    description: 'An error of a procedure, or of the connection to an upstream.',
    properties: {
      error_uri: key('URI of the error.', { type: 'string', minLength: 1 }),
      args: key('Its arguments.', { type: 'array' }),
      kwargs: key('Its named arguments.', FREE_MAP),
      details: key('Its details.', FREE_MAP),
    },
    required: ['error_uri'],
    additionalProperties: false,
  },
  exampleExpectation: {
    type: 'object',
    description: 'What a response must have. Maps match by the members named, lists as a whole.',
    properties: {
      status_code: key('Status of the response.', { type: 'integer', minimum: 200, maximum: 599 }),
      headers: key('Headers of the response by name; false: it has none.', SCALARS),
      body: key('Body of the response.'),
      sent: key(
        'What left for the upstream (method, url, headers, body) or the router (procedure or topic, args, kwargs, options); a list has one for each attempt; false: nothing left.',
        { type: ['object', 'array', 'boolean'] },
      ),
    },
    additionalProperties: false,
  },
}
