// Compiles `openapi` of a version: where its OpenAPI description is served. It is a path like those of the document, with
// a static operation, and what is served there is given.

import { ownValue } from '../expression/lookup.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import { isFixedPath } from '../routes/path-pattern.ts'
import { compilePath, type PathResult, type VersionDeps } from './path.ts'

/** OpenAPI's own media type for JSON (specification of OpenAPI 3.1, appendix of media types). */
const OPENAPI_JSON = 'application/vnd.oai.openapi+json;version=3.1'

/** An OpenAPI description as it is sent. */
export interface Description {
  readonly text: string
  /** The same for the same text: a strong entity tag without its quotes. */
  readonly tag: string
}

/**
 * The path of the description; undefined where the version has none, or what it says is faulty, which has been reported.
 * @param written the value of `openapi`, which stands at `pointer`
 */
export const compileDescription = (
  written: unknown,
  pointer: string,
  version: VersionDeps,
  describe: () => Description | undefined,
): PathResult | undefined => {
  const source = isMap(written) ? ownValue(written, 'path') : written
  if (typeof source !== 'string') return undefined
  if (!isFixedPath(source)) {
    version.diagnostics.problem(
      'invalid_path',
      pointer,
      'expected a path below base_path, such as /openapi.json: it begins with a slash, and has no bindings or brackets',
    )
    return undefined
  }
  const description = describe()
  if (description === undefined) return undefined
  const security = isMap(written) ? ownValue(written, 'security') : undefined
  const raw = pathObject(description, security, version)
  const { path, security: compiled } = compilePath(source, raw, pointer, version)
  const get = path?.operations.get
  if (path === undefined || get === undefined) return { path: undefined, security: compiled }
  // Nothing of the operation stands in the document but `openapi` itself.
  return { path: { ...path, operations: { get: { ...get, pointer } } }, security: compiled }
}

const pathObject = (
  { text, tag }: Description,
  security: Value | undefined,
  { scope }: VersionDeps,
): ValueMap => ({
  ...(security !== undefined && { security }),
  provides: ['application/json', OPENAPI_JSON],
  variables: {
    headers: { 'content-type': OPENAPI_JSON, etag: `"${tag}"`, 'cache-control': 'no-cache' },
    unchanged: { [`"${tag}"`]: 304, [`W/"${tag}"`]: 304, '*': 304 },
  },
  get: {
    action: {
      type: 'static',
      headers:
        scope.default('headers') === undefined
          ? '{{variables.headers}}'
          : '{{defaults.headers |> merge({{variables.headers}})}}',
      // Within JSON, braces side by side stand in texts alone, and mean the same there when they are escaped.
      body: text.replaceAll('{{', String.raw`{\u007b`),
    },
    response: {
      on_result: {
        status_code:
          "{{variables.unchanged |> get({{request.headers |> get('if-none-match', '')}}, 200)}}",
      },
    },
  },
})
