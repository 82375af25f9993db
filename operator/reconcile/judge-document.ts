// A document, its variables and its realm in; a version that may be put, or everything that is wrong with
// it, out. Pure; the language judges, this file only asks it. Conflicts between documents come later.

import { compile } from '../../spec/compile.ts'
import type { CompiledApi } from '../../spec/compiled.ts'
import type { Environment } from '../../spec/environment.ts'
import type { Problem, Warning } from '../../spec/problem.ts'
import type { DesiredDocument } from '../desired-set.ts'
import type { Finding } from '../resource/condition.ts'
import type { ApiSpecificationResource } from '../resource/resource.ts'
import type { Found } from '../resource/secret-value.ts'
import {
  ACCEPTED_PENDING,
  acceptedWith,
  invalid,
  missing,
  realmHeld,
  realmUnready,
  realmUnusable,
  REFERENCES_PENDING,
  RESOLVED,
  tooLarge,
} from './findings.ts'
import { coversHosts } from './host-entries.ts'
import { type HostGrant, refuseHost } from './host-grants.ts'
import type { RealmTerms } from './judge-realm.ts'
import { ANY_REALM, makeDocument } from './make-document.ts'
import { type DocumentPlace, type ReadDocument, relocate } from './read-document.ts'
import type { SecretVariables } from './read-variables.ts'

export interface DocumentJudgement {
  readonly accepted: Finding<'Accepted'>
  readonly resolvedRefs: Finding<'ResolvedRefs'>
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** This generation, as far as the language goes: it may lack a realm, or the right to its host. */
  readonly version?: DesiredDocument
  /** What may be put. */
  readonly good?: DesiredDocument
  /** Of the Realm that it may use. */
  readonly realmNamespace?: string
  /** It has served, and of its realm nothing is known but that it is there. */
  readonly isRealmHeld?: boolean
}

/** What stands outside a document and decides over it. */
export interface DocumentContext {
  readonly variables: Found<SecretVariables>
  readonly access: RealmAccess
  readonly grant: HostGrant
}

/** What a document finds under its `realm_uri`. */
export type RealmAccess =
  | { readonly access: 'granted'; readonly realm: RealmTerms }
  /** There, for this namespace, and not good, or paused, since this operator has known it. */
  | { readonly access: 'unready'; readonly realm: UnreadyRealm }
  | { readonly access: 'RealmNotFound' | 'RefNotPermitted' }

export interface UnreadyRealm {
  readonly namespace: string
  readonly name: string
  readonly isPaused: boolean
}

/** What of it decides: the same values where nothing has changed for the document. */
export const accessInputs = (access: RealmAccess): readonly unknown[] => [
  access.access,
  access.access === 'granted' ? access.realm : undefined,
  ...(access.access === 'unready'
    ? [access.realm.namespace, access.realm.name, access.realm.isPaused]
    : []),
]

type Readable = Extract<ReadDocument, { readonly place: DocumentPlace }>

export const judgeDocument = (
  resource: ApiSpecificationResource,
  read: ReadDocument,
  context: DocumentContext,
): DocumentJudgement => {
  const { variables } = context
  const nothing = { errors: [], warnings: [] }
  if ('missing' in read) {
    return { ...nothing, accepted: ACCEPTED_PENDING, resolvedRefs: missing(read.missing) }
  }
  if ('tooLarge' in read) {
    const accepted = tooLarge(read.tooLarge.message)
    return { ...nothing, accepted, resolvedRefs: REFERENCES_PENDING, errors: [read.tooLarge] }
  }
  if ('problems' in read) {
    const { problems } = read
    const accepted = refusal(problems)
    return { accepted, resolvedRefs: REFERENCES_PENDING, errors: problems, warnings: [] }
  }
  // Without its variables a document would seem to lack what only the Secret has.
  if ('missing' in variables) {
    return { ...nothing, accepted: ACCEPTED_PENDING, resolvedRefs: missing(variables.missing) }
  }
  return judgeReadable(resource, read, variables.found, context)
}

const judgeReadable = (
  resource: ApiSpecificationResource,
  read: Readable,
  secrets: SecretVariables,
  { access, grant }: DocumentContext,
): DocumentJudgement => {
  const compilation = compile(read.document, environmentOf(secrets, access))
  const reference = referenceOf(resource, read, access)
  if ('problems' in compilation) {
    const errors = compilation.problems.map((problem) => relocate(problem, read.place))
    const accepted = refusal(compilation.problems, errors)
    return { accepted, resolvedRefs: reference, errors, warnings: [] }
  }
  const { compiled } = compilation
  const warnings = locateWarnings(compilation.warnings, read.place, access)
  const version = makeDocument(resource, { document: read.document, compiled, secrets })
  const ownJudgement = { accepted: acceptedWith(warnings), errors: [], warnings, version }
  if (access.access !== 'granted') {
    const isRealmHeld = access.access === 'unready' && hasServed(resource)
    return { ...ownJudgement, resolvedRefs: reference, ...(isRealmHeld && { isRealmHeld }) }
  }
  const judgement = { ...ownJudgement, realmNamespace: access.realm.namespace }
  const refused =
    hostOutsideRealm(access.realm, compiled) ??
    refuseHost(grant, { ...compiled, namespace: resource.metadata.namespace })
  if (refused !== undefined) return { ...judgement, resolvedRefs: refused }
  return { ...judgement, resolvedRefs: RESOLVED, good: version }
}

/** Where the realm can't be used, the document is judged as if it could: one fault must not hide another. */
const environmentOf = (secrets: SecretVariables, access: RealmAccess): Environment => {
  const facts = access.access === 'granted' ? access.realm.facts : ANY_REALM
  return { realm: () => facts, variables: secrets.variables }
}

const referenceOf = (
  resource: ApiSpecificationResource,
  read: Readable,
  access: RealmAccess,
): Finding<'ResolvedRefs'> => {
  if (access.access === 'granted') return RESOLVED
  if (read.realmUri === undefined) return REFERENCES_PENDING
  const { namespace } = resource.metadata
  if (access.access !== 'unready') return realmUnusable(access.access, read.realmUri, namespace)
  if (hasServed(resource)) return realmHeld(read.realmUri, namespace, access.realm)
  return access.realm.namespace === namespace
    ? realmUnready(namespace, access.realm.name)
    : realmUnusable('RealmNotFound', read.realmUri, namespace)
}

/** Its realm was good then, whatever this operator has seen of it. */
const hasServed = ({ programmed }: ApiSpecificationResource): boolean => programmed !== undefined

const hostOutsideRealm = (
  { uri, allowedHosts }: RealmTerms,
  { host, hosts }: CompiledApi,
): Finding<'ResolvedRefs'> | undefined => {
  if (allowedHosts === undefined || coversHosts(allowedHosts, hosts)) return undefined
  return {
    type: 'ResolvedRefs',
    status: 'False',
    reason: 'RefNotPermitted',
    message:
      `the realm '${uri}' does not allow the host '${host}': ` +
      `its allowedHosts are ${allowedHosts.join(', ')}`,
  }
}

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
