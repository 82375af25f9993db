// Describes the WAMP router of a realm: its part of the realm record, and of the Realm resource.

import type { ExtensibleSchema } from './realm-notation.ts'

const ADDRESS = {
  type: 'string',
  pattern:
    '^(?:wss?://[^\\s/?#\\\\]+(?:[/?][^\\s#\\\\]*)?|rss?://[^\\s/?#@\\\\]+:[0-9]{1,5}/?|(?:rs\\+)?unix:(?://)?/[^\\s?#\\\\/][^\\s?#\\\\]*)$',
  'x-sensitivity': 'address',
} as const

const AUTH = {
  type: 'object',
  properties: {
    method: {
      enum: ['anonymous', 'ticket', 'wampcra', 'cryptosign'],
      'x-sensitivity': 'public',
      description: 'WAMP authentication method.',
      'x-explain': 'How the gateway says who it is.',
    },
    authid: {
      type: 'string',
      minLength: 1,
      format: 'plain-text',
      'x-sensitivity': 'public',
      description: 'Name the gateway joins with.',
      'x-explain': 'User of the router that the gateway joins as.',
    },
    secret: {
      type: 'string',
      minLength: 1,
      format: 'plain-text',
      'x-sensitivity': 'secret',
      description: 'Ticket, shared secret or private key (hex).',
      'x-explain': 'Its ticket, secret or private key.',
    },
  },
  required: ['method'],
  additionalProperties: false,
  if: {
    required: ['method'],
    properties: { method: { enum: ['ticket', 'wampcra', 'cryptosign'] } },
  },
  then: { required: ['secret'] },
} as const

export const ROUTER_SCHEMA = {
  type: 'object',
  properties: {
    url: {
      ...ADDRESS,
      'x-importance': 'known',
      description:
        'Address of the router, ws://host:port/path or wss:// (WebSocket), rs://host:port or rss:// (RawSocket), unix:/path (RawSocket over a Unix socket).',
      'x-explain': 'Its address: ws, wss (WebSocket), rs, rss, unix (RawSocket).',
    },
    urls: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        ...ADDRESS,
        description:
          'Address of a router, ws://host:port/path or wss:// (WebSocket), rs://host:port or rss:// (RawSocket), unix:/path (RawSocket over a Unix socket).',
      },
      'x-importance': 'known',
      description: 'Addresses of the routers, tried in turn.',
      'x-explain': 'Several addresses, tried in order after url.',
    },
    serializers: {
      type: 'array',
      minItems: 1,
      maxItems: 8,
      items: { enum: ['json', 'msgpack', 'cbor'], 'x-sensitivity': 'public' },
      default: ['json'],
      'x-importance': 'known',
      description: 'Serializers to offer, best first.',
      'x-explain': 'What messages are written in, best first; json when absent.',
    },
    auth: {
      ...AUTH,
      'x-importance': 'known',
      description: 'How the gateway joins the realm; anonymous when left out.',
      'x-explain': 'How to join the realm; anonymous when absent.',
    },
    pool: {
      type: 'integer',
      minimum: 1,
      maximum: 1024,
      default: 1,
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'Sessions that each process keeps with the router.',
      'x-explain': 'Sessions of each gateway process; 1 when absent.',
    },
    keepalive: {
      type: 'integer',
      minimum: 0,
      maximum: 86_400_000,
      default: 10_000,
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description:
        'Milliseconds of silence after which a connection is given up, 0: never. Less than 100 is taken as seconds.',
      'x-explain':
        'Longest silence in milliseconds (below 100: seconds); 10000 when absent, 0: any.',
    },
    call_timeout_unit: {
      enum: ['ms', 's'],
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description:
        'Unit of the timeout option that the router understands; it is not sent when left out.',
      'x-explain': 'Unit of the timeout option of this router; not sent when absent.',
    },
  },
  additionalProperties: false,
  if: { not: { required: ['urls'] } },
  then: { required: ['url'] },
} as const satisfies ExtensibleSchema
