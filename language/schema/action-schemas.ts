// Describes the members of the Action Objects of documents (specification §2.5), for each type of action.

import type { ActionType } from '../compile/action.ts'
import { keysOn } from '../compile/inheritance.ts'
import { INHERITED_KEYS } from '../compile/operation-parts.ts'
import { METHODS } from '../document.ts'
import {
  branchesByType,
  type DocumentSchema,
  HOLDS_EXPRESSION,
  integer,
  key,
  type Keys,
  LIST,
  listOf,
  MAP,
  oneOf,
  ref,
  TEXT,
} from './document-notation.ts'

type WrittenType = Exclude<ActionType, 'empty'>
interface ActionSchema extends Omit<DocumentSchema, 'type' | '$ref' | 'properties'> {
  readonly description: string
  readonly own: Keys
}

const HOST = key(
  'Upstream host, with scheme and port where needed: http://orders:8080. http is the default.',
  { ...TEXT, minLength: 1 },
)
const PATTERN =
  'or what options.match makes of it: the last part of a prefix, and any part of a wildcard, may be empty.'
const PLAIN = 'parts separated by dots, none empty, no blanks, no #.'
const NEEDS_TOPIC: DocumentSchema = {
  if: { not: { required: ['topic'] } },
  then: { required: ['procedure'] },
}

const FORWARD: ActionSchema = {
  description: 'Forwards the request to an upstream HTTP endpoint.',
  own: {
    http_method: key(
      "Method of the upstream request, in lower case; the request's when left out.",
      oneOf(METHODS),
    ),
    host: HOST,
    hosts: key(
      'In place of host: several upstream hosts, of which each attempt takes one by weight.',
      { ...LIST, ...listOf(ref('weightedHost'), { minItems: 1, maxItems: 16 }) },
    ),
    path: key(
      "Upstream path; the request's when left out. Tags within a longer text are percent-encoded.",
      TEXT,
    ),
    query_string: key(
      "Upstream query string without the question mark; the request's when left out.",
      TEXT,
    ),
    headers: key("Headers of the upstream request by name; the request's when left out.", MAP),
    body: key("Body of the upstream request; the request's, unread, when left out."),
    credential: key(
      'Name of a credential of the realm, which the gateway authenticates with at the upstream.',
      { ...TEXT, minLength: 1 },
    ),
  },
  if: { required: ['hosts'] },
  then: {
    properties: { host: key('An action has either host or hosts, not both.', { not: {} }) },
  },
  else: {
    properties: { host: key('An action needs host, or hosts with weights.') },
    required: ['host'],
  },
}

const ACTIONS: Readonly<Record<WrittenType, ActionSchema>> = {
  static: {
    description: 'Answers without asking anybody.',
    own: {
      headers: key('Response headers by name.', MAP),
      body: key('Response body: any value, expressions in it are evaluated for each request.'),
    },
  },
  forward: FORWARD,
  wamp_call: {
    description: 'Calls a procedure of the realm.',
    own: { procedure: key(`URI of the procedure: ${PLAIN}`, ref('wampUri')) },
    required: ['procedure'],
  },
  wamp_publish: {
    description: 'Publishes to a topic of the realm, acknowledged.',
    own: {
      topic: key(`URI of the topic: ${PLAIN}`, ref('wampUri')),
      procedure: key('Another name for topic.', ref('wampUri')),
    },
    ...NEEDS_TOPIC,
  },
  wamp_subscribe: {
    description:
      'Answers with a stream of server-sent events, one for each publication to a topic; with kwargs.callback each is posted to that URL instead.',
    own: {
      topic: key(`URI of the topic, ${PATTERN}`, ref('wampPattern')),
      procedure: key('Another name for topic.', ref('wampPattern')),
    },
    ...NEEDS_TOPIC,
  },
  wamp_unsubscribe: {
    description: 'Ends a subscription that was made with a callback.',
    own: {
      topic: key(`URI of the topic, ${PATTERN}`, ref('wampPattern')),
      procedure: key('Another name for topic.', ref('wampPattern')),
    },
  },
  wamp_register: {
    description:
      'Registers a procedure whose invocations are posted to the URL in kwargs.callback.',
    own: { procedure: key(`URI of the procedure, ${PATTERN}`, ref('wampPattern')) },
    required: ['procedure'],
  },
  wamp_unregister: {
    description: 'Ends a registration: args holds its id.',
    own: { procedure: key(`URI of the procedure, ${PATTERN}`, ref('wampPattern')) },
  },
}

/** `wamp_call` → `wampCallAction` */
const definitionOf = (type: string): string =>
  `${type.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Action`

const LIMITS = keysOn('action', INHERITED_KEYS)

const schemaOf = (type: string, { description, own, ...rest }: ActionSchema): DocumentSchema => ({
  type: 'object',
  description,
  ...(type.startsWith('wamp_') && ref('wampMembers')),
  properties: {
    type: key(`The action type ${type}.`, { const: type }),
    ...own,
    ...(type === 'forward' && LIMITS),
  },
  ...rest,
})

/** ajv returns the very definition that a value broke, so it is known by identity. */
export const ACTION_TYPE_SCHEMA: DocumentSchema = {
  ...TEXT,
  description: 'The action types there are.',
  enum: Object.keys(ACTIONS),
}

export const ACTION_SCHEMAS: Readonly<Record<string, DocumentSchema>> = {
  action: {
    type: 'object',
    description: 'Action Object. Its type decides what it does and which members it has.',
    properties: { type: key('What kind of action this is.', ref('actionType')) },
    required: ['type'],
    allOf: branchesByType(
      Object.fromEntries(Object.keys(ACTIONS).map((type) => [type, definitionOf(type)])),
    ),
  },
  actionType: ACTION_TYPE_SCHEMA,
  ...Object.fromEntries(
    Object.entries(ACTIONS).map(([type, schema]) => [definitionOf(type), schemaOf(type, schema)]),
  ),
  weightedHost: {
    type: 'object',
    description: 'One of several upstream hosts.',
    properties: {
      host: HOST,
      weight: key(
        'Its share of the requests, in proportion to the sum of all weights; 0 for none.',
        integer({ minimum: 0, maximum: 1000 }),
      ),
    },
    required: ['host', 'weight'],
  },
  wampMembers: {
    type: 'object',
    description: 'What all WAMP actions have.',
    properties: {
      options: key('WAMP options.', MAP),
      args: key('Positional arguments.', LIST),
      arguments: key('Another spelling of args.', LIST),
      kwargs: key('Keyword arguments.', MAP),
      arguments_kw: key('Another spelling of kwargs.', MAP),
      ...LIMITS,
    },
  },
  wampUri: {
    ...TEXT,
    anyOf: [HOLDS_EXPRESSION, { format: 'wamp-uri' }],
    description:
      'A WAMP URI, whose parts, separated by dots, are not empty and hold no blanks and no #; or an expression.',
  },
  wampPattern: {
    ...TEXT,
    anyOf: [HOLDS_EXPRESSION, { format: 'wamp-pattern' }],
    description:
      'A WAMP URI whose parts, separated by dots, hold no blanks and no #, and may be empty where options.match says so; or an expression.',
  },
}
