// Compiles a document in one pipeline: an unknown value becomes a compiled document, or the list of every problem.
// Total (never throws on what a user sent), deterministic, pure.

import { childPointer } from '../base/json-pointer.ts'
import { needsRouter } from './compile/action.ts'
import { API_PARTS } from './compile/api-parts.ts'
import { compileLevel } from './compile/level-part.ts'
import { type ApiDeps, compileVersion } from './compile/version.ts'
import type { CompiledApi, CompiledVersion } from './compile/compiled.ts'
import { conflictsWithin } from './compile/conflicts.ts'
import type { Environment } from './realm/environment.ts'
import { ownValue } from './expression/lookup.ts'
import { isMap, type Value, type ValueMap } from './expression/value.ts'
import { boundMessage } from './expression/errors.ts'
import { createDiagnostics, type Diagnostics, type FindPlace } from './compile/diagnostics.ts'
import { measure } from './measure.ts'
import type { Problem, Warning } from './problem.ts'
import { docsPage } from './openapi/docs-page.ts'
import { describeVersion } from './openapi/describe-version.ts'
import { findContradictions } from './examples/contradictions.ts'
import { findTooManyRoutes } from './routes/route-limit.ts'
import { createScope, type Scope } from './compile/scope.ts'
import { hasSchemas, refuseSecretSchemas } from './compile/secret-schemas.ts'
import { writtenPlaces } from './compile/written-place.ts'
import { misreadValues } from './validate/misread-values.ts'
import { type UnknownProperties, unknownProperties } from './validate/unknown-properties.ts'
import { validate } from './validate.ts'
import { namedVersions } from './versions.ts'
import { digestOf } from './wire/digest.ts'
import { withoutExamples } from './without-examples.ts'

export type Compilation =
  | { readonly compiled: CompiledApi; readonly warnings: readonly Warning[] }
  | { readonly problems: readonly Problem[]; readonly warnings: readonly Warning[] }

/** The bounds of behaviour §2 that are settings. */
export interface CompileBounds {
  /** 20,000 if left out. */
  readonly maxRoutes?: number
}

/**
 * Validates and compiles one document.
 * @example
 * const outcome = compile(document, { realm: (uri) => realms.get(uri) })
 * if ('problems' in outcome) report(outcome.problems)
 * else serve(outcome.compiled)
 */
export const compile = (
  document: unknown,
  environment: Environment,
  { maxRoutes }: CompileBounds = {},
): Compilation => {
  // A document that is too large, too deep, not JSON or of another format is not read any further.
  const unfit = [...measure(document), ...refuseOtherFormat(document)]
  if (unfit.length > 0) return { problems: unfit, warnings: [] }
  const diagnostics = createDiagnostics(placesIn(document, environment))
  validate(document).forEach(diagnostics.report)
  const unknown = unknownProperties(document)
  unknown.problems.forEach(diagnostics.report)
  // Problems of structure do not hide those of meaning: whatever has its shape is checked all the same.
  if (!isMap(document)) return { problems: diagnostics.problems, warnings: [] }
  const tooMany = findTooManyRoutes(document, maxRoutes)
  if (tooMany !== undefined) {
    diagnostics.report(tooMany)
    return { problems: diagnostics.problems, warnings: warningsOf(document, unknown, diagnostics) }
  }
  // Texts of examples are no expressions.
  const served = withoutExamples(document)
  const shown = shownOf(served, environment)
  const describer = describerOf(document, shown, diagnostics)
  const compiled = compileApi(served, environment, diagnostics, describer)
  const visible = hasSchemas(compiled) ? shown() : undefined
  if (visible !== undefined) refuseSecretSchemas(compiled, visible.api, diagnostics)
  if (diagnostics.problems.length === 0) {
    conflictsWithin(compiled).forEach(diagnostics.report)
    findContradictions(document, compiled).forEach(diagnostics.report)
    warnOfNothingServed(compiled, environment, diagnostics)
    warnOfNoRouter(compiled, environment, diagnostics)
  }
  const { problems } = diagnostics
  const warnings = warningsOf(served, unknown, diagnostics)
  return problems.length > 0 ? { problems, warnings } : { compiled, warnings }
}

const placesIn = (document: unknown, { variables }: Environment): FindPlace | undefined =>
  isMap(document) ? writtenPlaces(document, variables) : undefined

/** An error says enough of a place that has one. */
const warningsOf = (
  document: ValueMap,
  unknown: UnknownProperties,
  { problems, warnings }: Diagnostics,
): readonly Warning[] => {
  const own = [...unknown.warnings, ...misreadValues(document)]
  const faulty = new Set(problems.map(({ path }) => path))
  // That an expression is read otherwise than it looks is mostly why the error is there.
  return byImportance([...own, ...warnings]).filter(
    ({ path, code }) => code === 'SuspiciousExpression' || !faulty.has(path),
  )
}

/** What shows a few shows the worst. */
const byImportance = (warnings: readonly Warning[]): readonly Warning[] => [
  ...warnings.filter(({ code }) => code === 'AlwaysFails'),
  ...warnings.filter(({ code }) => code !== 'AlwaysFails'),
]

const refuseOtherFormat = (document: unknown): readonly Problem[] => {
  const name = ['openapi', 'swagger'].find((key) => ownValue(document, key) !== undefined)
  if (name === undefined || ownValue(document, 'versions') !== undefined) return []
  return [
    {
      code: 'invalid_value',
      path: `/${name}`,
      message:
        'this is an OpenAPI document, which describes an API; an API Specification says what to do for each request: ' +
        'it has id, host, realm_uri and versions (examples/01-static.yaml is a small one)',
    },
  ]
}

interface Shown {
  readonly api: CompiledApi
  readonly problems: readonly Problem[]
}

/**
 * What people may see of a document: where values of Secrets are known, it is compiled once more without them, when that is
 * needed first.
 * @returns undefined: it has no such values, and all of it may be seen
 */
const shownOf = (served: ValueMap, environment: Environment): (() => Shown | undefined) => {
  const withheld = Object.keys(environment.variables ?? {})
  let shown: Shown | undefined
  const compileShown = (): Shown => {
    const apart = createDiagnostics()
    const facts: Environment = { realm: (uri) => environment.realm(uri), withheld }
    const api = compileApi(served, facts, apart, () => () => undefined)
    return { api, problems: apart.problems }
  }
  return () => (withheld.length === 0 ? undefined : (shown ??= compileShown()))
}

/** Descriptions show no value of a Secret. */
const describerOf = (
  document: ValueMap,
  shownOfDocument: () => Shown | undefined,
  diagnostics: Diagnostics,
): ((api: Pick<CompiledApi, 'id' | 'hosts'>) => ApiDeps['describe']) => {
  let left = MAX_DESCRIPTIONS
  return (api) => (version, pointer) => {
    const shown = shownOfDocument()
    const [problem] = shown?.problems ?? []
    if (problem !== undefined) {
      const message = `a description must not show values of Secrets, and without them the document cannot be compiled: ${problem.path}: ${problem.message}`
      diagnostics.problem('invalid_value', pointer, boundMessage(message))
      return undefined
    }
    const same = shown?.api.versions.find(({ name }) => name === version.name) ?? version
    const described = describeVersion(document, api, same, left)
    const text = JSON.stringify(described ?? null)
    left -= text.length
    if (described === undefined || left < 0) {
      const message = `the OpenAPI descriptions of this API have more than ${MAX_DESCRIPTIONS} characters: leave openapi and docs_page out, and write them by svc openapi`
      diagnostics.problem('invalid_value', pointer, message)
      return undefined
    }
    return {
      openapi: { text, tag: tagOf(described) },
      page: () => docsPage(described, tagOf),
    }
  }
}

const tagOf = (value: Value): string => digestOf(value).slice(0, 32)

/** Behaviour §2. 2,000 paths of one operation have 1.2 million. */
const MAX_DESCRIPTIONS = 2 * 1024 * 1024

const compileApi = (
  document: ValueMap,
  environment: Environment,
  diagnostics: Diagnostics,
  describer: ReturnType<typeof describerOf>,
): CompiledApi => {
  const parts = compileLevel(API_PARTS, document, '', {
    hasRealm: (uri) => environment.realm(uri) !== undefined,
    diagnostics,
  })
  const realm = environment.realm(parts.realmUri)
  const scope = withSecurityVariable(
    createScope(
      {
        pointer: '',
        variables: ownValue(document, 'variables'),
        defaults: ownValue(document, 'defaults'),
        status_codes: ownValue(document, 'status_codes'),
        security: ownValue(document, 'security'),
        secrets: environment.variables,
        withheld: environment.withheld,
      },
      undefined,
      diagnostics,
    ),
  )
  const versions = namedVersions(ownValue(document, 'versions'))
  reportEqualNames(versions, diagnostics)
  const { hosts } = parts
  const describe = describer(parts)
  const meta = ownValue(document, 'meta')
  const deps: ApiDeps = { scope, realm, meta, hosts, diagnostics, describe }
  return {
    ...parts,
    versions: versions.flatMap((version) => compileVersion(version, deps) ?? []),
    ...(realm?.hasWebSocket === true && { hasWebSocket: true }),
  }
}

const warnOfNothingServed = (
  { versions, realmUri }: CompiledApi,
  environment: Environment,
  diagnostics: Diagnostics,
): void => {
  const hasWebSocket = environment.realm(realmUri)?.hasWebSocket
  if (hasWebSocket === undefined) return
  const serves = ({ paths, endpoints, security }: CompiledVersion): boolean =>
    paths.length + endpoints.length > 0 || (hasWebSocket && security !== undefined)
  if (versions.some(serves)) return
  diagnostics.warning(
    'ServesNothing',
    '/versions',
    `no version has paths, and ${hasWebSocket ? 'wamp_websocket is false' : 'the realm has no router for WebSocket connections at /ws'}: add paths, every request is answered 404`,
  )
}

const warnOfNoRouter = (
  { versions, realmUri }: CompiledApi,
  environment: Environment,
  diagnostics: Diagnostics,
): void => {
  if (environment.realm(realmUri)?.hasRouter !== false) return
  const [first, ...others] = versions
    .filter(({ isActive }) => isActive)
    .flatMap(({ paths }) => paths.flatMap(({ operations }) => Object.values(operations)))
    .filter(({ action }) => needsRouter(action))
  if (first === undefined) return
  const more = others.length === 0 ? '' : `, also to ${others.length} more operations over WAMP`
  diagnostics.warning(
    'UnsuitableValue',
    childPointer(first.pointer, 'action'),
    `the realm has no router, so that every request to this fails${more}: add router: {url: …} to the realm`,
  )
}

/** `variables.security` of the API counts as `defaults.security` when that is unset (§2.9). */
const withSecurityVariable = (scope: Scope): Scope => ({
  ...scope,
  default: (name) => {
    const placed = scope.default(name)
    if (placed !== undefined || name !== 'security') return placed
    const template = scope.foldScope.read('variables', 'security')
    return template && { template, pointer: '/variables/security' }
  },
})

const reportEqualNames = (
  versions: ReturnType<typeof namedVersions>,
  diagnostics: Diagnostics,
): void => {
  const first = new Map<string, string>()
  for (const { name, pointer } of versions) {
    const earlier = first.get(name)
    if (earlier === undefined) first.set(name, pointer)
    else
      diagnostics.problem(
        'invalid_value',
        pointer,
        `this version has the same name, '${name}', as ${earlier}`,
      )
  }
}
