// Compiles `openapi` and `docs_page` of a version: where its OpenAPI description is served to programs, and where people
// read it. These are paths like those of the document, with static operations, and what is served there is given.

import { childPointer } from '../../base/json-pointer.ts'
import type { CompiledAction, DocsFile } from './action.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import { isFixedPath } from '../routes/path-pattern.ts'
import { compilePath, type PathResult, type VersionDeps } from './path.ts'

/** OpenAPI's own media type for JSON (specification of OpenAPI 3.1, appendix of media types). */
const OPENAPI_JSON = 'application/vnd.oai.openapi+json;version=3.1'

/** A text as it is sent. */
export interface Published {
  readonly text: string
  /** The same for the same text: a strong entity tag without its quotes. */
  readonly tag: string
}

/** What a version publishes of itself. */
export interface Description {
  readonly openapi: Published
  readonly page: () => DocsPage
}

export interface DocsPage extends Published {
  /** Its content security policy. */
  readonly policy: string
  /** What it loads: files of the gateway, each below it under a name that changes with its content. */
  readonly files: readonly { readonly name: DocsFile; readonly as: string }[]
}

/**
 * The paths that are added to those of the document; none where it publishes nothing, or what it says is faulty, which has
 * been reported.
 * @param version as written; it stands at `pointer`
 */
export const compileDescription = (
  version: ValueMap,
  pointer: string,
  deps: VersionDeps,
  describe: (pointer: string) => Description | undefined,
): readonly PathResult[] => {
  const openapi = readPlace(version, 'openapi', pointer, deps)
  const page = readPlace(version, 'docs_page', pointer, deps)
  const first = openapi ?? page
  const description = first && describe(first.pointer)
  if (description === undefined) return []
  return [
    ...(openapi === undefined ? [] : [compileOpenApi(openapi, description.openapi, deps)]),
    ...(page === undefined ? [] : compilePage(page, description.page(), deps)),
  ]
}

interface Place {
  readonly path: string
  readonly security: Value | undefined
  readonly pointer: string
}

const EXAMPLES = { openapi: '/openapi.json', docs_page: '/docs' } as const

const readPlace = (
  version: ValueMap,
  key: keyof typeof EXAMPLES,
  above: string,
  { diagnostics }: VersionDeps,
): Place | undefined => {
  const written = ownValue(version, key)
  const path = isMap(written) ? ownValue(written, 'path') : written
  if (typeof path !== 'string') return undefined
  const pointer = childPointer(above, key)
  const security = isMap(written) ? ownValue(written, 'security') : undefined
  if (isFixedPath(path)) return { path, security, pointer }
  diagnostics.problem(
    'invalid_path',
    pointer,
    `expected a path below base_path, such as ${EXAMPLES[key]}: it begins with a slash, and has no bindings or brackets`,
  )
  return undefined
}

const compileOpenApi = (place: Place, { text, tag }: Published, deps: VersionDeps): PathResult =>
  compileFixed(place, deps, {
    provides: ['application/json', OPENAPI_JSON],
    headers: { 'content-type': OPENAPI_JSON, 'cache-control': 'no-cache' },
    tag,
    // Within JSON, braces side by side stand in texts alone, and mean the same there when they are escaped.
    body: text.replaceAll('{{', String.raw`{\u007b`),
  })

/** The page, and below it the files that all such pages load. */
const compilePage = (
  place: Place,
  { text, tag, policy, files }: DocsPage,
  deps: VersionDeps,
): readonly PathResult[] => [
  compileFixed(place, deps, {
    provides: ['text/html'],
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    },
    tag,
    body: text,
  }),
  ...files.map(({ name, as }) => {
    const type = TYPES[name]
    return compileFixed({ ...place, path: `${place.path}/${as}` }, deps, {
      provides: [type],
      headers: {
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'private, max-age=31536000, immutable',
      },
      tag: as,
      file: name,
    })
  }),
]

const TYPES = {
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
} as const satisfies Record<DocsFile, string>

interface Fixed {
  readonly provides: readonly string[]
  readonly headers: ValueMap
  readonly tag: string
  /** What is sent: a text, or a file of the gateway. */
  readonly body?: string
  readonly file?: DocsFile
}

const compileFixed = (
  { path: source, security, pointer }: Place,
  deps: VersionDeps,
  { provides, headers, tag, body, file }: Fixed,
): PathResult => {
  const sent = {
    headers:
      deps.scope.default('headers') === undefined
        ? '{{variables.headers}}'
        : '{{defaults.headers |> merge({{variables.headers}})}}',
    body: body ?? '{{action.result.body}}',
  }
  const raw: ValueMap = {
    ...(security !== undefined && { security }),
    provides,
    variables: {
      headers: { ...headers, etag: `"${tag}"` },
      unchanged: { [`"${tag}"`]: 304, [`W/"${tag}"`]: 304, '*': 304 },
    },
    get: {
      action: { type: 'static', ...(file === undefined && sent) },
      response: {
        on_result: {
          ...(file !== undefined && sent),
          status_code:
            "{{variables.unchanged |> get({{request.headers |> get('if-none-match', '')}}, 200)}}",
        },
      },
    },
  }
  const { path, security: compiled } = compilePath(source, raw, pointer, deps)
  const get = path?.operations.get
  if (path === undefined || get === undefined) return { path: undefined, security: compiled }
  const action: CompiledAction = file === undefined ? get.action : { type: 'docs_file', name: file }
  // Nothing of the operation stands in the document but the key itself.
  return { path: { ...path, operations: { get: { ...get, action, pointer } } }, security: compiled }
}
