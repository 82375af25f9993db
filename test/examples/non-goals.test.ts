// That the pages which say what there is not are right: each entry has names that it would be written with, and fails once
// documents may have one.

import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { functionNames } from '../../language/expression/functions/functions.ts'
import { parsePath } from '../../language/routes/path-pattern.ts'
import { DOCUMENT_SCHEMA } from '../../language/validate/document-schema.ts'

/** Names of keys, methods, actions, security schemes or functions, and paths that must not parse. */
interface Absent {
  readonly names?: readonly string[]
  readonly paths?: readonly string[]
  /** Why no document can tell that it is there by now: its author finds the entry by this reason alone. */
  readonly because?: string
}

/** By the text of the first cell. */
const ABSENT: Readonly<Record<string, Absent>> = {
  'JSON Schema of request and response bodies': {
    names: ['schema', 'body_schema', 'request_schema', 'validation'],
  },
  'caching and compression of responses': {
    names: ['cache', 'caching', 'compress', 'compression', 'gzip'],
  },
  'HTTP/2 and HTTP/3 to clients, gRPC': { names: ['http2', 'http3', 'grpc', 'grpc_call'] },
  'TCP, UDP, TLS passthrough': { names: ['tcp', 'udp', 'passthrough', 'tls_passthrough'] },
  'matching by header or query, regular expressions in paths': {
    names: ['match', 'matches', 'match_headers', 'match_query', 'regex'],
  },
  'segments behind `[...]`, a binding right behind a letter (`/v:version`)': {
    paths: ['/a/[...]/b', '/[...]/:id'],
  },
  "the client's `Host` to upstreams": { names: ['host_header', 'preserve_host'] },
  'bare line feeds, blanks within chunk sizes, two `Content-Length`, a length beside chunks, `identity` from upstreams':
    { because: 'it is no matter of documents; the hostile upstreams of the tests send it all' },
  'WebDAV methods in documents': { names: ['propfind', 'mkcol', 'copy', 'move', 'lock'] },
  'plug-ins, scripts, filters': { names: ['plugins', 'scripts', 'script', 'filters'] },
  'several calls for one response': { names: ['actions', 'steps', 'before', 'after'] },
  'importing OpenAPI': { names: ['swagger'] },
  'an admin interface that changes things': { because: 'it is no matter of documents' },
  'other kinds of Kubernetes (Ingress, HTTPRoute)': { because: 'it is no matter of documents' },
}

/** Of the rows of other gateways that end with "not here": the entry of the page that they lead to. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  proxy_cache: 'caching and compression of responses',
  'proxy-cache': 'caching and compression of responses',
  gzip: 'caching and compression of responses',
}

const linesOf = (page: string): readonly string[] =>
  readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8').split('\n')

const rows = linesOf('non-goals.md').flatMap((line) => {
  const title = /^\| (.*?) \| /.exec(line)?.[1]
  return title === undefined || title === 'not here' ? [] : [title]
})

const types = Object.values(DOCUMENT_SCHEMA.$defs).flatMap(
  ({ properties = {} }) => properties['type']?.const ?? [],
)

const KNOWN: ReadonlySet<string> = new Set([
  ...[DOCUMENT_SCHEMA, ...Object.values(DOCUMENT_SCHEMA.$defs)].flatMap(({ properties = {} }) =>
    Object.keys(properties),
  ),
  ...types,
  ...functionNames(),
])

describe('what is not here', () => {
  it('is known to the tests by each entry of the page', () => {
    expect(rows.length).toBeGreaterThan(5)
    expect(rows.filter((title) => !Object.hasOwn(ABSENT, title))).toEqual([])
  })

  it('has the words that documents would need, or a reason for none', () => {
    const idle = Object.entries(ABSENT).filter(
      ([, { names = [], paths = [], because }]) =>
        (names.length + paths.length === 0) === (because === undefined),
    )
    expect(idle).toEqual([])
    expect(types).toContain('forward')
    expect([...KNOWN]).toEqual(expect.arrayContaining(['host', 'get', 'forward', 'oidc', 'split']))
  })

  it.each(rows)('really is not: %s', (title) => {
    const { names = [], paths = [] } = ABSENT[title] ?? {}
    expect(names.filter((name) => KNOWN.has(name))).toEqual([])
    expect(paths.filter((path) => parsePath(path).ok)).toEqual([])
  })

  it('is what the page on other gateways leads to', () => {
    const named = linesOf('coming-from.md')
      .filter((line) => line.endsWith('| [not here](non-goals.md) |'))
      .flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
    expect([...named].sort()).toEqual(Object.keys(ELSEWHERE).sort())
    expect(Object.values(ELSEWHERE).filter((title) => !rows.includes(title))).toEqual([])
  })
})
