// Lists the headers that no document can set: the gateway makes them itself, or they concern one connection alone. Each has
// what to do instead, for the author of a document that writes one.

const OF_CONNECTION =
  'it concerns one connection, and those on both sides of the gateway are its own: leave it out'
const OF_BODY = 'the gateway knows how long the body is: leave it out'
const OF_CLIENT =
  'the gateway sends what it knows of the client: leave it out, or choose another name'

/** RFC 9110 §7.6.1, and those of older proxies. */
const HOP_BY_HOP = {
  connection: OF_CONNECTION,
  'keep-alive': OF_CONNECTION,
  'proxy-authenticate': OF_CONNECTION,
  'proxy-connection': OF_CONNECTION,
  te: OF_CONNECTION,
  trailer: OF_CONNECTION,
  'transfer-encoding': OF_CONNECTION,
  upgrade: OF_CONNECTION,
} as const

/** Headers that are never sent in messages of a kind. */
export interface UnsentHeaders {
  /** What to do instead of writing the header; undefined: it is sent. @param name in lower case */
  readonly remedyFor: (name: string) => string | undefined
  readonly has: (name: string) => boolean
}

/** @param plain what a name is compared as */
const unsentHeaders = (
  remedies: Readonly<Record<string, string>>,
  plain: (name: string) => string,
): UnsentHeaders => {
  const known = new Map(Object.entries(remedies))
  return { remedyFor: (name) => known.get(plain(name)), has: (name) => known.has(plain(name)) }
}

/** A name in lower case as servers read it: CGI and WSGI make one variable of both spellings. */
export const dashed = (name: string): string =>
  name.includes('_') ? name.replaceAll('_', '-') : name

const HOP_BY_HOP_OF_REQUESTS = {
  ...HOP_BY_HOP,
  'http2-settings': OF_CONNECTION,
  'proxy-authorization': `${OF_CONNECTION}, or authenticate with authorization or a credential`,
} as const

/** The gateway itself writes them on each connection. Names in `Connection` are added to them. */
export const HOP_BY_HOP_NAMES: ReadonlySet<string> = new Set(Object.keys(HOP_BY_HOP_OF_REQUESTS))

/** In requests to upstreams, with `_` for `-` too. */
export const UNSENT_IN_REQUESTS = unsentHeaders(
  {
    ...HOP_BY_HOP_OF_REQUESTS,
    'content-length': OF_BODY,
    expect: 'the gateway answers the client itself: leave it out',
    host: "the upstream gets the host of the action: write it there, or host_header: request for the client's",
    'x-forwarded-for': OF_CLIENT,
    'x-forwarded-host': OF_CLIENT,
    'x-forwarded-proto': OF_CLIENT,
    'x-request-id': 'the gateway sends request.id: leave it out, or choose another name',
  },
  dashed,
)

const UNSENT = { ...HOP_BY_HOP, 'content-length': OF_BODY }

export const UNSENT_IN_RESPONSES = unsentHeaders(UNSENT, (name) => name)

/** What the gateway says of a refusal, and what keeps a page of it from being taken for another type. */
export const UNSENT_IN_REFUSALS = unsentHeaders(
  {
    ...UNSENT,
    allow: 'the gateway knows the methods of the path: leave it out',
    'www-authenticate': 'the gateway names the schemes of the path: leave it out',
    'x-content-type-options': 'it is nosniff on each refusal: leave it out',
    'x-request-id': 'the gateway sends request.id: leave it out, or choose another name',
  },
  (name) => name,
)
