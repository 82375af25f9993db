// Compiles Version Objects (§2.2): one version of an API with all its paths.

import { childPointer } from '../../base/json-pointer.ts'
import { compileDescription, type Description } from './description.ts'
import { endpointsOf } from './security.ts'
import { compileWebSocket, warnOfOpenWebSocket } from './open-web-socket.ts'
import {
  compilePath,
  inheritedSecurity,
  type VersionDeps,
  remedyOf,
  warnOfLiteralSegment,
} from './path.ts'
import type { CompiledVersion } from './compiled.ts'
import type { RealmFacts } from '../realm/environment.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { NamedVersion } from '../versions.ts'
import { parseBasePath } from '../routes/path-pattern.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import { compileLevel } from './level-part.ts'
import { compileParts } from './operation-parts.ts'
import { warnOfRefusedHeaders } from './own-headers.ts'
import { createRefusalCompiler } from './refusal.ts'
import { createScope, type Scope } from './scope.ts'
import { VERSION_PARTS } from './version-parts.ts'

/** Behaviour §2. The schema rejects more than that, so they are not checked one by one. */
const MAX_PATHS = 2000

/** The API that a version belongs to. */
export interface ApiDeps {
  readonly scope: Scope
  readonly realm: RealmFacts | undefined
  readonly meta: unknown
  readonly hosts: readonly HostPattern[]
  readonly diagnostics: Diagnostics
  /** Describes a version; undefined: it reports why it cannot. */
  readonly describe: (version: CompiledVersion, pointer: string) => Description | undefined
}

/** undefined: the version or its paths are not a map; that has been reported. */
export const compileVersion = (
  { name, pointer, value }: NamedVersion,
  api: ApiDeps,
): CompiledVersion | undefined => {
  const { diagnostics, realm } = api
  if (!isMap(value)) return undefined
  const scope = createScope({ pointer, ...scopeMembers(value) }, api.scope, diagnostics)
  const deps: VersionDeps = {
    basePath: compileBasePath(ownValue(value, 'base_path'), pointer, diagnostics),
    scope,
    realm,
    hosts: api.hosts,
    diagnostics,
    validatedHeaders: new Map(),
    countsAlone: realm?.countsAlone === true,
    compileRefusal: createRefusalCompiler(diagnostics),
  }
  const placed = scope.default('security')
  const own = inheritedSecurity(placed, deps)
  const inherited = { security: own, isDecided: placed !== undefined }
  const webSocket = compileWebSocket(value, pointer, inherited, deps)
  const results = pathsOf(value, pointer).map(([source, raw, place]) =>
    compilePath(source, raw, place, deps),
  )
  const parts = compileLevel(VERSION_PARTS, value, pointer, {
    statusCodes: scope.statusCodes,
    security: webSocket.security,
    meta: api.meta,
    diagnostics,
  })
  const unmatched = compileParts('unmatched', {}, scope, deps)
  warnOfRefusedHeaders(unmatched, scope.default('on_refusal'), [], diagnostics)
  if (parts.isActive) warnOfOpenWebSocket(webSocket, deps, results)
  const version: CompiledVersion = {
    name,
    ...(pointer !== childPointer('/versions', name) && { pointer }),
    basePath: deps.basePath?.source ?? '',
    ...parts,
    ...unmatched,
    paths: results.flatMap(({ path }) => (path === undefined ? [] : [path])),
    endpoints: endpointsOf([own, webSocket.security, ...results.map(({ security }) => security)]),
  }
  const published = compileDescription(value, pointer, deps, (place) =>
    api.describe(version, place),
  )
  if (published.length === 0) return version
  return {
    ...version,
    paths: [...version.paths, ...published.flatMap(({ path }) => path ?? [])],
    endpoints: [
      ...new Map(
        [...version.endpoints, ...endpointsOf(published.map(({ security }) => security))].map(
          (endpoint) => [JSON.stringify(endpoint), endpoint],
        ),
      ).values(),
    ],
  }
}

const scopeMembers = (
  value: ValueMap,
): {
  variables: unknown
  defaults: unknown
  status_codes: unknown
  security: unknown
} => ({
  variables: ownValue(value, 'variables'),
  defaults: ownValue(value, 'defaults'),
  status_codes: ownValue(value, 'status_codes'),
  security: ownValue(value, 'security'),
})

const compileBasePath = (
  source: unknown,
  pointer: string,
  diagnostics: Diagnostics,
): VersionDeps['basePath'] => {
  if (typeof source !== 'string') return undefined
  const parsed = parseBasePath(source)
  if (parsed.ok) {
    warnOfLiteralSegment(source, childPointer(pointer, 'base_path'), diagnostics, 'base_path')
    return { source, patterns: parsed.patterns }
  }
  diagnostics.problem(
    'invalid_path',
    childPointer(pointer, 'base_path'),
    parsed.message + remedyOf(source, 'base_path'),
  )
  return undefined
}

const pathsOf = (
  version: ValueMap,
  pointer: string,
): readonly (readonly [source: string, raw: unknown, pointer: string])[] => {
  const paths = ownValue(version, 'paths')
  if (!isMap(paths)) return []
  const base = childPointer(pointer, 'paths')
  return Object.entries(paths)
    .slice(0, MAX_PATHS)
    .map(([source, raw]) => [source, raw, childPointer(base, source)])
}
