// Validates a document with its variables and its realm: gives a version that may be put, or everything that is wrong
// with it. Pure; the language validates, this file only asks it. Conflicts between documents come later.

import { plainDigest } from '../../../language/wire/digest.ts'
import {
  type CallerRequirement,
  warnOfRequirements,
} from '../../../language/caller-requirements.ts'
import { writtenPlaces } from '../../../language/compile/written-place.ts'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import type { Problem, Warning } from '../../../language/problem.ts'
import { withholdFacts } from '../../../language/realm/credentials.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { type NewCondition, type FoundBy, nothingFoundBy } from '../../resource/condition.ts'
import type { ApiSpecificationResource } from '../../resource/resource.ts'
import type { Found } from '../../resource/secret-value.ts'
import type { CompiledDocument, CompileOne, DocumentResult } from './compile-document.ts'
import {
  confinementOf,
  type DestinationPolicy,
  destinationProblems,
  destinationsRefused,
} from '../claims/destination-policies.ts'
import {
  ACCEPTED_COMPILING,
  ACCEPTED_PENDING,
  acceptedWith,
  invalid,
  missing,
  realmStillServes,
  realmHeld,
  realmUnready,
  realmUnusable,
  REFERENCES_PENDING,
  REFERENCES_WITHOUT_ROOM,
  RESOLVED,
  tooExpensive,
  tooLarge,
} from '../conditions.ts'
import { coversHosts, listEntries } from '../claims/host-entries.ts'
import { type HostGrant, refuseHost } from '../claims/host-grants.ts'
import type { RealmTerms } from '../realms/validate-realm-resource.ts'
import type { RealmAccess } from '../realms/realm-access.ts'
import { ANY_REALM, makeDocument, type Restrictions } from './make-document.ts'
import { type DocumentPlace, type ReadDocument, relocate } from './read-document.ts'
import type { SecretVariables } from './read-variables.ts'
import type { ResourceResult } from '../resource-result.ts'
import { credentialsRefused, withheldProblems } from './withheld-credentials.ts'

export interface ApiSpecificationValidation extends Pick<
  ResourceResult,
  | 'accepted'
  | 'resolvedRefs'
  | 'found'
  | 'errors'
  | 'warnings'
  | 'realmNamespace'
  | 'isPending'
  | 'quarantined'
> {
  /** That the users of its realm alone may meet. */
  readonly requirements?: readonly CallerRequirement[]
  /** This generation, as far as the language goes: it may lack a realm, or the right to its host. */
  readonly version?: DesiredDocument
  /** What may be put. */
  readonly good?: DesiredDocument
  /** It has served, and of its realm nothing is known but that it is there. */
  readonly isRealmHeld?: boolean
  /** There is no Realm of its uri, or none that ever served it, in a namespace that is not its own. */
  readonly isRealmAbsent?: boolean
}

/** What stands outside a document and decides over it. */
export interface DocumentContext {
  /** The key of the resource. */
  readonly key: string
  readonly compiler: CompileOne
  readonly variables: Found<SecretVariables>
  readonly access: RealmAccess
  readonly grant: HostGrant
  readonly destinations: DestinationPolicy
  /** The quota of its namespace has no room for it. */
  readonly overQuota: NewCondition<'Accepted'> | undefined
  /** It was validated before. */
  readonly mayWait?: boolean
}

/** What of it decides: the same values where nothing has changed for the document. */
export const accessInputs = (access: RealmAccess): readonly unknown[] => {
  switch (access.access) {
    case 'granted':
      return [access.access, access.realm, access.isDeleted, access.withheld.join('\n')]
    case 'unready': {
      const { namespace, name, isPaused, isKept } = access.realm
      return [access.access, namespace, name, isPaused, isKept]
    }
    case 'RealmNotFound':
    case 'RefNotPermitted':
      return [access.access, access.isAbsent]
  }
}

type Readable = Extract<ReadDocument, { readonly place: DocumentPlace }>

export const validateApiSpecification = (
  resource: ApiSpecificationResource,
  read: ReadDocument,
  context: DocumentContext,
): ApiSpecificationValidation => {
  const { variables } = context
  const nothing = { found: nothingFoundBy('document'), errors: [], warnings: [] }
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
    return { ...nothing, accepted, resolvedRefs: REFERENCES_PENDING, errors: problems }
  }
  // Without its variables a document would seem to lack what only the Secret has.
  if ('missing' in variables) {
    return { ...nothing, accepted: ACCEPTED_PENDING, resolvedRefs: missing(variables.missing) }
  }
  if (context.overQuota !== undefined) {
    return { ...nothing, accepted: context.overQuota, resolvedRefs: REFERENCES_WITHOUT_ROOM }
  }
  return validateReadable(resource, read, variables.found, context)
}

const validateReadable = (
  resource: ApiSpecificationResource,
  read: Readable,
  secrets: SecretVariables,
  { key, compiler, access, grant, destinations, mayWait = false }: DocumentContext,
): ApiSpecificationValidation => {
  const { programmed } = resource
  const { namespace } = resource.metadata
  const { document } = read
  const compilation = compiler.compile({
    key,
    namespace,
    document,
    realm: factsOf(access),
    secrets,
    quarantined: resource.quarantined,
    programmedDigest: programmed && plainDigest(programmed.digest),
    mayWait,
  })
  const reference = referenceOf(resource, read, access)
  if (compilation === undefined) {
    const nothing = { found: nothingFoundBy('document'), errors: [], warnings: [] }
    return { ...nothing, accepted: ACCEPTED_COMPILING, resolvedRefs: reference, isPending: true }
  }
  const warnings = locateWarnings(compilation.warnings, read.place, access)
  if ('problems' in compilation) return { ...refused(compilation, read, reference), warnings }
  const { compiled } = compilation
  const restrictions = restrictionsOf(destinations, access)
  const version = makeDocument(resource, { document, compiled, secrets, restrictions })
  const accepted = acceptedWith(warnings)
  const { requirements } = compiled
  const ownValidation = { accepted, found: foundIn(), errors: [], warnings, requirements, version }
  if (access.access !== 'granted') {
    const isRealmHeld = mayServeOn(resource, access)
    const isRealmAbsent = isAbsent(access, namespace)
    return {
      ...ownValidation,
      resolvedRefs: reference,
      ...(isRealmHeld && { isRealmHeld }),
      ...(isRealmAbsent && { isRealmAbsent }),
    }
  }
  const validation = { ...ownValidation, realmNamespace: access.realm.namespace }
  const notPermitted =
    hostOutsideRealm(access.realm, compiled) ?? refuseHost(grant, { ...compiled, namespace })
  if (notPermitted !== undefined) return { ...validation, resolvedRefs: notPermitted }
  const place = (problem: Problem): Problem => relocate(problem, read.place)
  const leaving = destinationProblems(destinations, compiled, version.selector !== undefined)
  if (leaving.length > 0) {
    const errors = leaving.map(place)
    return { ...validation, errors, resolvedRefs: destinationsRefused(destinations, errors) }
  }
  const withheld = withheldProblems(compiled, access.withheld, namespace)
  if (withheld.length > 0) {
    const errors = withheld.map(place)
    return { ...validation, errors, resolvedRefs: credentialsRefused(errors) }
  }
  return { ...validation, resolvedRefs: reference, good: version }
}

/**
 * With what it requires of callers and no user of its realm meets. Apart from the rest, so that a user who joins a group does
 * not have every document of the realm compiled again.
 */
export const withRequirements = (
  validation: ApiSpecificationValidation,
  read: ReadDocument,
  { access, variables }: Pick<DocumentContext, 'access' | 'variables'>,
): ApiSpecificationValidation => {
  const { requirements = [], warnings: before } = validation
  if (requirements.length === 0 || access.access !== 'granted') return validation
  if (!('document' in read) || 'missing' in variables) return validation
  const { groups, realm } = access
  const secrets = variables.found.variables
  const unmet = warnOfRequirements(
    requirements,
    { groups, hasIssuers: realm.facts.hasIssuers === true },
    {
      findPlace: writtenPlaces(read.document, secrets),
      hasSecrets: Object.keys(secrets).length > 0,
    },
  )
  if (unmet.length === 0) return validation
  const warnings = [...before, ...locateWarnings(unmet, read.place, access)]
  return { ...validation, warnings, accepted: acceptedWith(warnings) }
}

const restrictionsOf = (destinations: DestinationPolicy, access: RealmAccess): Restrictions => ({
  confinedTo: confinementOf(destinations),
  withheld: access.access === 'granted' ? access.withheld : [],
})

const isAbsent = (
  access: Exclude<RealmAccess, { access: 'granted' }>,
  namespace: string,
): boolean =>
  access.access === 'unready'
    ? !access.realm.isKept && access.realm.namespace !== namespace
    : access.isAbsent === true

/** What is found of a good document: none of the conditions so far is for it to decide. */
const foundIn = (): FoundBy<'document'> => ({})

/** Where the realm can't be used, the document is validated as if it could: one fault must not hide another. */
const factsOf = (access: RealmAccess): RealmFacts => {
  if (access.access !== 'granted') return ANY_REALM
  const { realm, withheld } = access
  const { credentials } = realm.facts
  if (credentials === undefined || withheld.length === 0) return realm.facts
  return { ...realm.facts, credentials: withholdFacts(credentials, withheld) }
}

const refused = (
  { problems, quarantined }: Extract<DocumentResult, { readonly problems: unknown }>,
  { place }: Readable,
  resolvedRefs: NewCondition<'ResolvedRefs'>,
): ApiSpecificationValidation => {
  const errors = problems.map((problem) => relocate(problem, place))
  const nothing = { found: nothingFoundBy('document'), warnings: [] }
  const validation = { ...nothing, accepted: refusal(problems, errors), resolvedRefs, errors }
  return quarantined === undefined ? validation : { ...validation, quarantined }
}

const referenceOf = (
  resource: ApiSpecificationResource,
  read: Readable,
  access: RealmAccess,
): NewCondition<'ResolvedRefs'> => {
  if (access.access === 'granted')
    return access.isDeleted ? realmStillServes(access.realm) : RESOLVED
  if (read.realmUri === undefined) return REFERENCES_PENDING
  const { namespace } = resource.metadata
  if (access.access !== 'unready') return realmUnusable(access.access, read.realmUri, namespace)
  if (mayServeOn(resource, access)) return realmHeld(read.realmUri, namespace, access.realm)
  return access.realm.namespace === namespace
    ? realmUnready(namespace, access.realm.name)
    : realmUnusable('RealmNotFound', read.realmUri, namespace)
}

/** Its realm was good when it was programmed, whatever this operator has seen of it, and is not taken away. */
const mayServeOn = ({ programmed }: ApiSpecificationResource, access: RealmAccess): boolean =>
  access.access === 'unready' && access.realm.isKept && programmed !== undefined

const hostOutsideRealm = (
  { uri, allowedHosts }: RealmTerms,
  { host, hosts }: CompiledDocument,
): NewCondition<'ResolvedRefs'> | undefined => {
  if (allowedHosts === undefined || coversHosts(allowedHosts, hosts)) return undefined
  return {
    type: 'ResolvedRefs',
    status: 'False',
    reason: 'RefNotPermitted',
    message:
      `the realm '${uri}' does not allow the host '${host}': ` +
      `its allowedHosts are ${listEntries(allowedHosts)}`,
  }
}

/** The bounds of size and of cost are the faults that a document has as a whole. */
const refusal = (
  problems: readonly Problem[],
  located: readonly Problem[] = problems,
): NewCondition<'Accepted'> => {
  const expensive = problems.find(({ code }) => code === 'too_expensive')
  if (expensive !== undefined) return tooExpensive(expensive.message)
  const whole = problems.find(({ code, path }) => code === 'invalid_value' && path === '')
  return whole === undefined ? invalid(located) : tooLarge(whole.message)
}

/** It is not known what a realm lacks that is not known itself. */
const locateWarnings = (
  warnings: readonly Warning[],
  place: DocumentPlace,
  access: RealmAccess,
): readonly Warning[] =>
  warnings
    .filter(({ code }) => access.access === 'granted' || code !== 'UnsatisfiedSecurity')
    .map((warning) => relocate(warning, place))
