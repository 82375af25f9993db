// A document, its variables and its realm in; a version that may be put, or everything that is wrong with
// it, out. Pure; the language judges, this file only asks it. Conflicts between documents come later.

import { compile } from '../../spec/compile.ts'
import { claimsOf } from '../../spec/conflicts.ts'
import { documentDigest } from '../../spec/digest.ts'
import type { Environment, RealmFacts } from '../../spec/environment.ts'
import type { Problem, Warning } from '../../spec/problem.ts'
import type { DesiredDocument } from '../desired-set.ts'
import type { Finding } from '../resource/condition.ts'
import type { ApiSpecificationResource } from '../resource/resource.ts'
import type { Found } from '../resource/secret-value.ts'
import {
  ACCEPTED,
  ACCEPTED_PENDING,
  invalid,
  missing,
  realmUnready,
  realmUnusable,
  REFERENCES_PENDING,
  RESOLVED,
  tooLarge,
} from './findings.ts'
import type { GoodRealm } from './judge-realm.ts'
import { admitsHost, allowedHosts } from './realm-access.ts'
import { type DocumentPlace, type ReadDocument, relocate } from './read-document.ts'
import type { SecretVariables } from './read-variables.ts'

export interface DocumentJudgement {
  readonly accepted: Finding<'Accepted'>
  readonly resolvedRefs: Finding<'ResolvedRefs'>
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** What may be put. */
  readonly good?: DesiredDocument
}

/** What a document finds under its `realm_uri`. */
export type RealmAccess =
  | { readonly access: 'granted'; readonly realm: GoodRealm }
  /** There, in the document's own namespace, and never yet good itself. */
  | { readonly access: 'unready'; readonly name: string }
  | { readonly access: 'RealmNotFound' | 'RefNotPermitted' }

type Readable = Extract<ReadDocument, { readonly place: DocumentPlace }>

export const judgeDocument = (
  resource: ApiSpecificationResource,
  read: ReadDocument,
  variables: Found<SecretVariables>,
  access: RealmAccess,
): DocumentJudgement => {
  const nothing = { errors: [], warnings: [] }
  if ('missing' in read) {
    return { ...nothing, accepted: ACCEPTED_PENDING, resolvedRefs: missing(read.missing) }
  }
  if ('problems' in read) {
    const { problems } = read
    return {
      accepted: refusal(problems),
      resolvedRefs: REFERENCES_PENDING,
      errors: problems,
      warnings: [],
    }
  }
  // Without its variables a document would seem to lack what only the Secret has.
  if ('missing' in variables) {
    return { ...nothing, accepted: ACCEPTED_PENDING, resolvedRefs: missing(variables.missing) }
  }
  return judgeReadable(resource, read, variables.found, access)
}

const judgeReadable = (
  resource: ApiSpecificationResource,
  read: Readable,
  secrets: SecretVariables,
  access: RealmAccess,
): DocumentJudgement => {
  const environment = environmentOf(secrets, access)
  const compilation = compile(read.document, environment)
  const references = referencesOf(resource, read, access)
  if ('problems' in compilation) {
    const errors = compilation.problems.map((problem) => relocate(problem, read.place))
    const accepted = refusal(compilation.problems, errors)
    return { accepted, resolvedRefs: references, errors, warnings: [] }
  }
  const { compiled } = compilation
  const judgement = {
    accepted: ACCEPTED,
    errors: [],
    warnings: locateWarnings(compilation.warnings, read.place, access),
  }
  if (access.access !== 'granted') return { ...judgement, resolvedRefs: references }
  if (!admitsHost(access.realm, compiled.hosts)) {
    return { ...judgement, resolvedRefs: hostRefused(access.realm, compiled.host) }
  }
  const good: DesiredDocument = {
    id: compiled.id,
    digest: documentDigest({ spec: read.document, secretVersions: secrets.versions }),
    since: resource.metadata.createdAt,
    realmUri: compiled.realmUri,
    spec: read.document,
    ...(secrets.versions.length > 0 && { variables: secrets.variables }),
    claims: claimsOf(compiled),
    namespace: resource.metadata.namespace,
    ...selectorOf(resource),
  }
  return { ...judgement, resolvedRefs: references, good }
}

/** Where the realm can't be used, the document is judged as if it could: one fault must not hide another. */
const environmentOf = (secrets: SecretVariables, access: RealmAccess): Environment => {
  const facts = access.access === 'granted' ? access.realm.facts : ANY_REALM
  return { realm: () => facts, variables: secrets.variables }
}

/** Allows whatever a document may ask of a realm. */
const ANY_REALM: RealmFacts = {
  authmethods: ['oidcrp', 'cookie'],
  oidcProviders: [],
}

const referencesOf = (
  resource: ApiSpecificationResource,
  read: Readable,
  access: RealmAccess,
): Finding<'ResolvedRefs'> => {
  if (access.access === 'granted') return RESOLVED
  if (access.access === 'unready') {
    return realmUnready(resource.metadata.namespace, access.name)
  }
  if (read.realmUri === undefined) return REFERENCES_PENDING
  return realmUnusable(access.access, read.realmUri, resource.metadata.namespace)
}

const hostRefused = (realm: GoodRealm, host: string): Finding<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason: 'RefNotPermitted',
  message:
    `the realm '${realm.spec.uri}' does not allow the host '${host}': ` +
    `its allowedHosts are ${(allowedHosts(realm.spec) ?? []).join(', ')}`,
})

/** The bound of 4 MiB is the one fault that a document has as a whole. */
const refusal = (
  problems: readonly Problem[],
  located: readonly Problem[] = problems,
): Finding<'Accepted'> => {
  const whole = problems.find(({ code, path }) => code === 'invalid_value' && path === '')
  return whole === undefined ? invalid(located) : tooLarge(whole.message)
}

/** Of a realm that is not known, nobody can say what it lacks. */
const locateWarnings = (
  warnings: readonly Warning[],
  place: DocumentPlace,
  access: RealmAccess,
): readonly Warning[] =>
  warnings
    .filter(({ code }) => access.access === 'granted' || code !== 'UnsatisfiedSecurity')
    .map((warning) => ({
      ...warning,
      path: `${place.pointer}${place.words === undefined ? warning.path : ''}`,
    }))

const selectorOf = (resource: ApiSpecificationResource): Pick<DesiredDocument, 'selector'> => {
  const spec = 'spec' in resource.checked ? resource.checked.spec : {}
  return spec.dataPlaneSelector === undefined ? {} : { selector: spec.dataPlaneSelector }
}
