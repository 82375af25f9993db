// Compiles Version Objects (§2.2): one version of an API with all its paths.

import { childPointer } from '../../base/json-pointer.ts'
import { endpointsOf } from './security.ts'
import { compileWebSocket, warnOfOpenWebSocket } from './open-web-socket.ts'
import {
  compilePath,
  compileSchemes,
  inheritedSecurity,
  type VersionDeps,
  remedyOf,
  warnOfLiteralSegment,
} from './path.ts'
import type { CompiledVersion } from '../compiled.ts'
import type { RealmFacts } from '../environment.ts'
import { ownValue } from '../expression/lookup.ts'
import { constant } from '../expression/template.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import { readInteger, readTexts } from './folded.ts'
import type { NamedVersion } from '../versions.ts'
import { parseBasePath } from '../routes/path-pattern.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import { createScope, type Scope } from './scope.ts'

const DEFAULT_POOL_SIZE = 200
/** Behaviour §2. The schema rejects more than that, so they are not checked one by one. */
const MAX_PATHS = 2000
const DEFAULT_LANGUAGES: readonly string[] = ['en']

/** The API that a version belongs to. */
export interface ApiDeps {
  readonly scope: Scope
  readonly realm: RealmFacts | undefined
  readonly meta: unknown
  readonly hosts: readonly HostPattern[]
  readonly diagnostics: Diagnostics
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
  }
  const placed = scope.default('security')
  const own = inheritedSecurity(placed, deps)
  const inherited = { security: own, isDecided: placed !== undefined }
  const webSocket = compileWebSocket(value, pointer, inherited, deps)
  const results = pathsOf(value, pointer).map(([source, raw, place]) =>
    compilePath(source, raw, place, deps),
  )
  const isActive = ownValue(value, 'is_active') !== false
  if (isActive) warnOfOpenWebSocket(webSocket, deps, results)
  const isDeprecated = ownValue(value, 'is_deprecated') === true
  return {
    name,
    ...(pointer !== childPointer('/versions', name) && { pointer }),
    basePath: deps.basePath?.source ?? '',
    isActive,
    ...(isDeprecated
      ? { deprecation: deprecationHeaders(ownValue(value, 'meta') ?? api.meta) }
      : {}),
    poolSize: compilePoolSize(ownValue(value, 'pool_size'), pointer, diagnostics),
    languages: compileLanguages(ownValue(value, 'languages'), pointer, diagnostics),
    statusCodes: scope.statusCodes,
    ...(webSocket.security && { security: webSocket.security }),
    schemes: compileSchemes(scope.default('schemes'), diagnostics),
    paths: results.flatMap(({ path }) => (path === undefined ? [] : [path])),
    endpoints: endpointsOf([own, webSocket.security, ...results.map(({ security }) => security)]),
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

const compilePoolSize = (value: unknown, pointer: string, diagnostics: Diagnostics): number => {
  if (typeof value !== 'number') return DEFAULT_POOL_SIZE
  const place = childPointer(pointer, 'pool_size')
  const range = { minimum: 1, maximum: 65_536 }
  return readInteger(constant(value), place, range, diagnostics) ?? DEFAULT_POOL_SIZE
}

const compileLanguages = (
  value: unknown,
  pointer: string,
  diagnostics: Diagnostics,
): readonly string[] => {
  if (!Array.isArray(value)) return DEFAULT_LANGUAGES
  const place = childPointer(pointer, 'languages')
  const texts = readTexts<string>(constant(value), place, undefined, diagnostics)
  return texts === undefined || texts.length === 0 ? DEFAULT_LANGUAGES : texts
}

/** RFC 9745 (`@unix`), RFC 8594 (HTTP date); a date that can't be read says just that it is so. */
const deprecationHeaders = (meta: unknown): Readonly<Record<string, string>> => {
  const text = (key: string): string | undefined => {
    const value = isMap(meta) ? ownValue(meta, key) : undefined
    return typeof value === 'string' ? value : undefined
  }
  const at = Date.parse(text('deprecated_at') ?? '')
  const sunset = Date.parse(text('sunset_at') ?? '')
  const link = text('deprecation_link')
  return {
    deprecation: Number.isNaN(at) ? 'true' : `@${Math.floor(at / 1000)}`,
    ...(Number.isNaN(sunset) ? {} : { sunset: new Date(sunset).toUTCString() }),
    ...(link === undefined || !URL.canParse(link)
      ? {}
      : { link: `<${new URL(link).href}>; rel="deprecation"` }),
  }
}
