// Puts the schemas of Action Objects (specification §2.5) together: what each type has stands in its row of
// `compile/action.ts`.

import { ACTION_KEYS } from '../compile/action.ts'
import { HOST_KEY } from '../compile/forward-action.ts'
import { keysOn } from '../compile/inheritance.ts'
import { INHERITED_KEYS } from '../compile/operation-parts.ts'
import {
  type ActionSchema,
  branchesByType,
  type DocumentSchema,
  HOLDS_EXPRESSION,
  integer,
  key,
  LIST,
  MAP,
  ref,
  SNIPPET,
  TEXT,
} from '../schema/document-notation.ts'

/** `wamp_call` → `wampCallAction` */
const definitionOf = (type: string): string =>
  `${type.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Action`

const LIMITS = keysOn('action', INHERITED_KEYS)

const schemaOf = (
  type: string,
  { description, own, snippet, shares, ...rest }: ActionSchema,
): DocumentSchema => ({
  type: 'object',
  description,
  [SNIPPET]: { type, ...snippet },
  ...(shares === 'wamp' && ref('wampMembers')),
  properties: {
    type: key(`The action type ${type}.`, { const: type }),
    ...own,
    ...(shares === 'limits' && LIMITS),
  },
  ...rest,
})

/** ajv returns the very definition that a value broke, so it is known by identity. */
export const ACTION_TYPE_SCHEMA: DocumentSchema = {
  ...TEXT,
  description: 'The action types there are.',
  enum: Object.keys(ACTION_KEYS),
}

export const ACTION_SCHEMAS: Readonly<Record<string, DocumentSchema>> = {
  action: {
    type: 'object',
    description: 'Action Object. Its type decides what it does and which members it has.',
    properties: { type: key('What kind of action this is.', ref('actionType')) },
    required: ['type'],
    allOf: branchesByType(
      Object.fromEntries(Object.keys(ACTION_KEYS).map((type) => [type, definitionOf(type)])),
    ),
  },
  actionType: ACTION_TYPE_SCHEMA,
  ...Object.fromEntries(
    Object.entries(ACTION_KEYS).map(([type, schema]) => [
      definitionOf(type),
      schemaOf(type, schema),
    ]),
  ),
  weightedHost: {
    type: 'object',
    description: 'One of several upstream hosts.',
    properties: {
      host: HOST_KEY,
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
