// Validates texts of files like the operator and the language, and lists everything that they would report. References to
// objects that the files do not contain are notices, as these may be in the cluster.

import { compileAtOnce } from '../../operator/reconcile/documents/compile-document.ts'
import { memberAt } from '../../language/expression/members.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import { Reconciler } from '../../operator/reconcile/reconciler.ts'
import type { ResourceResult } from '../../operator/reconcile/resource-result.ts'
import { type Resource, resourceKey } from '../../operator/resource/resource.ts'
import { DEFAULT_CLASS } from '../../operator/resource/resource-schema.ts'
import { dependsOnNoVariable } from '../../operator/resource/stand-in-variables.ts'
import { type Collected, collectResources, type Located } from './collect-resources.ts'
import {
  byPlace,
  type FilesValidation,
  type ValidationDiagnostic,
} from './validation-diagnostic.ts'
import type { GatheredFile } from './gather-files.ts'
import { referenceDiagnostics, type ReferenceDeps } from './reference-diagnostics.ts'
import { referencesOf, type StandIns, standInSecrets } from './secret-references.ts'

/** @param maxRoutes as the gateways have it; 20,000 if left out */
export const validateFiles = (
  files: readonly GatheredFile[],
  maxRoutes?: number,
): FilesValidation => ({
  names: files.map(({ name }) => name),
  ...validateCollected(collectResources(files), maxRoutes),
})

/** The same of resources that were collected before. */
export const validateCollected = (
  { resources: located, diagnostics }: Pick<Collected, 'resources' | 'diagnostics'>,
  maxRoutes?: number,
): Omit<FilesValidation, 'names'> => {
  const resources = new Map([...located].map(([key, { resource }]) => [key, resource]))
  const standIns = standInSecrets(resources, encryptedSecrets(located))
  const cache = { version: 1, resources: new Map([...resources, ...standIns]), notes: [] }
  const classes = new Set([...resources.values()].map(classOf))
  // Every class is validated by itself, as its operator would.
  const validated = [...classes].flatMap((className) => [
    ...new Reconciler({ className, compiler: compileAtOnce(maxRoutes) }).reconcile(cache).results,
  ])
  const results = new Map(validated)
  const found = [...results].flatMap(([key, result]) => {
    const place = located.get(key)
    return place === undefined ? [] : diagnosticsOf(result, place, { standIns, located })
  })
  const kinds = [...resources.values()].map(({ kind }) => kind)
  return {
    documents: kinds.filter((kind) => kind === 'ApiSpecification').length,
    realms: kinds.filter((kind) => kind === 'Realm').length,
    diagnostics: [...diagnostics, ...found].sort(byPlace),
  }
}

/** Keys of Secrets that SOPS has encrypted: their keys can be read, and nothing else. */
const encryptedSecrets = (located: ReadonlyMap<string, Located>): ReadonlySet<string> =>
  new Set(
    [...located].flatMap(([key, { resource, value }]) =>
      resource.kind === 'Secret' && memberAt(value, 'sops') !== undefined ? [key] : [],
    ),
  )

const classOf = (resource: Resource): string =>
  (resource.kind === 'ApiSpecification' || resource.kind === 'Realm'
    ? resource.className
    : undefined) ?? DEFAULT_CLASS

const diagnosticsOf = (
  result: ResourceResult,
  located: Located,
  deps: ReferenceDeps,
): readonly ValidationDiagnostic[] => {
  const at = placeIn(located)
  const isCertain = certainty(result, deps.standIns)
  return [
    ...result.errors.filter(isCertain).map((problem) => at('error', problem)),
    ...referenceDiagnostics(result, deps).map(({ severity, ...diagnostic }) =>
      at(severity, diagnostic),
    ),
    ...result.warnings.filter(isCertain).map((warning) => at('warning', warning)),
  ]
}

/** Which diagnostics are certain for a document whose Secrets are not among the files. */
const certainty = (
  { resource }: ResourceResult,
  standIns: StandIns,
): ((diagnostic: Problem | Warning) => boolean) => {
  const { namespace } = resource.metadata
  const missing = referencesOf(resource).filter(({ name }) =>
    standIns.has(resourceKey('Secret', namespace, name)),
  )
  const document =
    resource.kind === 'ApiSpecification' && 'spec' in resource.checked
      ? resource.checked.spec.document
      : undefined
  if (missing.length === 0 || document === undefined) return () => true
  const isCertain = dependsOnNoVariable(document)
  // Every key of such a Secret is a variable, which may override one of the document.
  const mayOverride = missing.some(({ key }) => key === undefined)
  return ({ code, path: pointer }) => {
    const path = pointer.replace(/^\/spec\/document/, '')
    return isCertain({ code, path }) && !(mayOverride && path.startsWith('/variables/'))
  }
}

interface Diagnostic {
  readonly path: string
  readonly code: string
  readonly message: string
  readonly offset?: number
}

type AtPath = (
  severity: ValidationDiagnostic['severity'],
  diagnostic: Diagnostic,
) => ValidationDiagnostic

const placeIn =
  ({ file, positionOf, name, isPlain }: Located): AtPath =>
  (severity, { path, code, message, offset }) => ({
    severity,
    file,
    ...positionOf(path, offset),
    resource: name,
    path: isPlain ? path.replace(/^\/spec\/document/, '') : path,
    code,
    message: isPlain ? message.replaceAll('/spec/document/', '/') : message,
  })
