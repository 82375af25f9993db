// Compiles a Path Object (§2.3) of a version, with all that it inherits, into its ways through the route table and its
// compiled operations.

import { childPointer } from '../../base/json-pointer.ts'
import { foldInScope } from './bind-status-codes.ts'
import type { RealmFacts } from '../realm/environment.ts'
import { literalSegment, type PatternPlace } from './literal-segments.ts'
import { keysOn } from './inheritance.ts'
import { compileOperation, type PathDeps } from './operation.ts'
import { compileParts, findInherited, INHERITED_KEYS } from './operation-parts.ts'
import { ANONYMOUS, type CompiledSecurity } from './security.ts'
import { compileSecurity } from './security-list.ts'
import type { CompiledOperation, CompiledPath } from './compiled.ts'
import { type Method, METHODS } from '../document.ts'
import { INVALID, fold } from '../expression/fold.ts'
import { constant, type Template } from '../expression/template.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type Placed, toFoldedMap } from './folded.ts'
import { type HostPattern, isNameless } from '../routes/host-pattern.ts'
import { joinPatterns, parsePath, type PathPattern } from '../routes/path-pattern.ts'
import type { CompileRefusal } from './operation-part.ts'
import { warnOfRefusedHeaders } from './own-headers.ts'
import { reportMisspelt } from './misspelt-restrictions.ts'
import { createScope, type Scope } from './scope.ts'

/** Own properties of a path that its operations inherit. Methods fold on their own. */
const INHERITED = Object.keys(keysOn('path', INHERITED_KEYS))

/** The version that a path belongs to. */
export interface VersionDeps {
  readonly basePath:
    { readonly source: string; readonly patterns: readonly PathPattern[] } | undefined
  readonly scope: Scope
  readonly realm: RealmFacts | undefined
  readonly hosts: readonly HostPattern[]
  readonly diagnostics: Diagnostics
  readonly validatedHeaders: PathDeps['validatedHeaders']
  readonly countsAlone: boolean
  readonly compileRefusal: CompileRefusal
}

export interface PathResult {
  readonly path: CompiledPath | undefined
  /** Also when the path itself has problems, because its scheme mounts endpoints. */
  readonly security: CompiledSecurity | undefined
}

export const compilePath = (
  source: string,
  raw: unknown,
  pointer: string,
  version: VersionDeps,
): PathResult => {
  const { diagnostics, realm } = version
  const patterns = compilePatterns(source, pointer, version)
  if (!isMap(raw)) return { path: undefined, security: undefined }
  const scope = createPathScope(raw, pointer, version)
  const map = toFoldedMap(
    foldInScope(pick(raw, INHERITED), pointer, scope, diagnostics),
    pointer,
    diagnostics,
  )
  if (map === undefined) return { path: undefined, security: undefined }
  const levels = { path: map }
  const security = compileSecurity(findInherited(levels, scope)('security'), realm, diagnostics)
  const template = `${version.basePath?.source ?? ''}${source}`.replaceAll('//', '/')
  const deps: PathDeps = {
    map,
    scope,
    security: security ?? ANONYMOUS,
    hasFaultySecurity: security === undefined,
    credentials: realm?.credentials,
    countsAlone: version.countsAlone,
    diagnostics,
    template,
    bindings: bindingsOf(patterns, version.hosts),
    hasNamelessHost: version.hosts.some(isNameless),
    rest: patterns?.find(({ rest }) => rest !== null)?.rest ?? undefined,
    validatedHeaders: version.validatedHeaders,
    compileRefusal: version.compileRefusal,
  }
  const operations = compileOperations(raw, pointer, deps)
  const parts = compileParts('path', levels, scope, deps)
  const placed = findInherited(levels, scope)('on_refusal')
  warnOfRefusedHeaders(parts, placed, Object.values(operations), diagnostics)
  const path: CompiledPath = {
    pointer,
    template,
    patterns: patterns ?? [],
    ...parts,
    operations,
  }
  return { path, security }
}

const compilePatterns = (
  source: string,
  pointer: string,
  { basePath, diagnostics }: VersionDeps,
): readonly PathPattern[] | undefined => {
  const parsed = parsePath(source)
  if (!parsed.ok) {
    diagnostics.problem(parsed.code, pointer, parsed.message + remedyOf(source))
    return undefined
  }
  warnOfLiteralSegment(source, pointer, diagnostics)
  if (basePath === undefined) return undefined
  warnOfRepeatedBase(basePath.source, source, pointer, diagnostics)
  const joined = joinPatterns(basePath.patterns, parsed.patterns)
  if (joined.ok) return joined.patterns
  diagnostics.problem(joined.code, pointer, joined.message)
  return undefined
}

/** Brackets do not matter: the segment that may be left out is there twice as well. */
const warnOfRepeatedBase = (
  base: string,
  source: string,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  const prefix = base.replaceAll(/[[\]]|\/$/g, '')
  if (prefix === '' || !`${source.replaceAll(/[[\]]/g, '')}/`.startsWith(`${prefix}/`)) return
  diagnostics.warning(
    'UnsuitableValue',
    pointer,
    `the base_path stands in front of every path, so that clients ask for '${base}${source}': leave '${base}' out here`,
  )
}

export const warnOfLiteralSegment = (
  source: string,
  pointer: string,
  diagnostics: Diagnostics,
  place?: PatternPlace,
): void => {
  const literal = literalSegment(source, place)
  if (literal === undefined) return
  const { segment, remedy } = literal
  diagnostics.warning('TakenLiterally', pointer, `'${segment}' is plain text here: write ${remedy}`)
}

/** For messages about a pattern that is refused, perhaps for how another gateway writes it. */
export const remedyOf = (source: string, place?: PatternPlace): string => {
  const literal = literalSegment(source, place)
  return literal === undefined ? '' : `; in place of '${literal.segment}' write ${literal.remedy}`
}

/** The bindings of any form of path and host: what one form lacks, another may have. Undefined: one of them is faulty. */
const bindingsOf = (
  paths: readonly PathPattern[] | undefined,
  hosts: readonly HostPattern[],
): readonly string[] | undefined => {
  if (paths === undefined || hosts.length === 0) return undefined
  const names = [
    ...paths.flatMap(({ bindings, rest }) => [...bindings, rest]),
    ...hosts.flatMap(({ bindings }) => bindings),
  ]
  return [...new Set(names.filter((name) => name !== null))]
}

/** `variables` and `defaults` of a path may each be one expression that yields the map. */
const createPathScope = (raw: ValueMap, pointer: string, version: VersionDeps): Scope => {
  const { scope, diagnostics } = version
  const { budget } = scope
  const written = (key: InheritedMap): Value | undefined => ownValue(raw, key)
  const give = (key: InheritedMap): Template | undefined => {
    const value = written(key)
    if (typeof value !== 'string') return undefined
    const place = childPointer(pointer, key)
    const template = fold(value, place, scope.foldScope, diagnostics.report)
    if (toFoldedMap(template, place, diagnostics) === undefined) return undefined
    const taken = budget.take(template, place)
    if (key === 'variables' || taken === INVALID) return taken
    return reportMisspelt(key, template, place, { budget, diagnostics }) ? template : INVALID
  }
  const variables = written('variables')
  const defaults = written('defaults')
  if (variables === undefined && defaults === undefined) return scope
  const given = { variables: give('variables'), defaults: give('defaults') }
  return createScope({ pointer, variables, defaults, given }, scope, diagnostics)
}

type InheritedMap = 'variables' | 'defaults'

const compileOperations = (
  raw: ValueMap,
  pointer: string,
  deps: PathDeps,
): Partial<Record<Method, CompiledOperation>> => {
  const operations: Partial<Record<Method, CompiledOperation>> = {}
  for (const method of METHODS) {
    const value = ownValue(raw, method)
    if (value === undefined) continue
    const operation = compileOperation(value, method, childPointer(pointer, method), deps)
    if (operation !== undefined) operations[method] = operation
  }
  return operations
}

const pick = (map: ValueMap, keys: readonly string[]): ValueMap => {
  const picked: Record<string, Value> = {}
  for (const key of keys) {
    const value = ownValue(map, key)
    if (value !== undefined) picked[key] = value
  }
  return picked
}

/** For versions: the security of paths that set none. */
export const inheritedSecurity = (
  placed: Placed | undefined,
  { realm, diagnostics }: VersionDeps,
): CompiledSecurity | undefined =>
  compileSecurity(placed ?? { template: constant({}), pointer: '' }, realm, diagnostics)
