// Validates a Realm with the Secrets it names: gives its record and digest, or what stands in the way. Pure: which
// Realm owns a uri is decided elsewhere.

import { type CallerGroups, callerGroupsOf } from '../../../language/caller-requirements.ts'
import { listAt, memberAt } from '../../../language/expression/members.ts'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import { digestOf } from '../../../language/wire/digest.ts'
import { isList, type ValueMap } from '../../../language/expression/value.ts'
import type { Problem, Warning } from '../../../language/problem.ts'
import { factsOf } from '../../../language/realm/facts.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { DesiredRealm } from '../../desired-set.ts'
import type { NewCondition } from '../../resource/condition.ts'
import { type MadeKey, madeKeys } from '../../resource/realm-keys.ts'
import { realmRecord, secretReferences } from '../../resource/realm-record.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import type { KeyReference, RealmResource, RealmSpec } from '../../resource/resource.ts'
import {
  findSecret,
  type Found,
  readSecretKey,
  type SecretText,
} from '../../resource/secret-value.ts'
import {
  type RealmDiagnostics,
  validateCompleteRecord,
  validateRealmSpec,
} from '../../resource/validate-realm-spec.ts'
import {
  acceptedWith,
  invalid,
  missing,
  REFERENCES_PENDING,
  REFERENCES_WITHOUT_ROOM,
  RESOLVED,
} from '../conditions.ts'

export interface RealmResourceValidation {
  readonly accepted: NewCondition<'Accepted'>
  readonly resolvedRefs: NewCondition<'ResolvedRefs'>
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** Absent when the spec can't be read. */
  readonly uri?: string
  readonly good?: GoodRealm
}

/** A version of a Realm that may be put. */
export interface GoodRealm {
  readonly desired: DesiredRealm
  readonly spec: RealmSpec
  readonly terms: RealmTerms
  /** That its users are in: documents may require others, with a warning. */
  readonly groups: CallerGroups
  readonly namespace: string
  readonly generation: number
  /** The uid of the Realm. */
  readonly uid: string
}

/** All that documents are validated against: the same object while it says the same, whatever else changes. */
export interface RealmTerms {
  readonly uri: string
  /** The namespace of the Realm. */
  readonly namespace: string
  readonly facts: RealmFacts
  /** Absent: any. */
  readonly allowedHosts?: readonly string[]
}

/** @param overQuota the quota of its namespace has no room for it */
export const validateRealmResource = (
  resource: RealmResource,
  cache: ResourceCache,
  overQuota?: NewCondition<'Accepted'>,
): RealmResourceValidation => {
  if ('problems' in resource.checked) {
    const errors = resource.checked.problems
    return { accepted: invalid(errors), resolvedRefs: REFERENCES_PENDING, errors, warnings: [] }
  }
  const { spec } = resource.checked
  if (overQuota !== undefined) {
    const resolvedRefs = REFERENCES_WITHOUT_ROOM
    return { accepted: overQuota, resolvedRefs, errors: [], warnings: [], uri: spec.uri }
  }
  const secrets = readSecrets(spec, resource.metadata.namespace, cache)
  if ('missing' in secrets)
    return {
      ...validationOf(validateRealmSpec(spec), spec),
      resolvedRefs: missing(secrets.missing),
    }
  const good = goodRealm(resource, spec, {
    secrets: secrets.found,
    keys: keysFor(resource, spec, cache),
  })
  const validation = validationOf(validateCompleteRecord(good.desired.record), spec)
  return validation.errors.length > 0
    ? { ...validation, resolvedRefs: RESOLVED }
    : { ...validation, resolvedRefs: RESOLVED, good }
}

const validationOf = (
  { problems: errors, warnings }: RealmDiagnostics,
  { uri }: RealmSpec,
): Omit<RealmResourceValidation, 'resolvedRefs'> => ({
  accepted: errors.length > 0 ? invalid(errors) : acceptedWith(warnings),
  errors,
  warnings,
  uri,
})

/**
 * What the validation depends on, for a memo: what the Realm says, every Secret it names, and those of the operator.
 * @param names of those Secrets
 */
export const realmInputs = (
  { checked, metadata: { uid, generation, namespace } }: RealmResource,
  names: readonly string[],
  cache: ResourceCache,
): readonly unknown[] => [
  checked,
  uid,
  generation,
  cache.realmKeys,
  ...names.map((name) => secretInput(cache, namespace, name)),
]

export const secretNames = ({ checked }: RealmResource): readonly string[] =>
  'problems' in checked ? [] : [...new Set(secretReferences(checked.spec).map(({ name }) => name))]

/** The Secret itself, or the words that say why there is none. */
export const secretInput = (cache: ResourceCache, namespace: string, name: string): unknown => {
  const secret = findSecret(cache, namespace, name)
  return 'found' in secret ? secret.found : secret.missing.message
}

type Secrets = ReadonlyMap<string, SecretText>

const readSecrets = (spec: RealmSpec, namespace: string, cache: ResourceCache): Found<Secrets> => {
  const secrets = new Map<string, SecretText>()
  for (const reference of secretReferences(spec)) {
    const secret = findSecret(cache, namespace, reference.name)
    if ('missing' in secret) return secret
    const text = readSecretKey(secret.found, reference.key)
    if ('missing' in text) return text
    secrets.set(referenceKey(reference), text.found)
  }
  return { found: secrets }
}

const referenceKey = ({ name, key }: KeyReference): string => `${name}/${key}`

/** None where the Realm gives its own. */
const keysFor = (
  { metadata: { uid } }: RealmResource,
  spec: RealmSpec,
  { realmKeys }: ResourceCache,
): readonly MadeKey[] => {
  if (realmKeys === undefined || listAt(spec, 'signingKeys').length > 0) return []
  return madeKeys(realmKeys, uid)
}

interface Read {
  readonly secrets: Secrets
  readonly keys: readonly MadeKey[]
}

const goodRealm = (
  resource: RealmResource,
  spec: RealmSpec,
  { secrets, keys }: Read,
): GoodRealm => {
  const read = (reference: KeyReference): SecretText | undefined =>
    secrets.get(referenceKey(reference))
  const signing = (of: RealmRecord, values: readonly (string | ValueMap)[]): RealmRecord =>
    values.length === 0 ? of : { ...of, signing_keys: values }
  const given = realmRecord(spec, (reference) => read(reference)?.text ?? '')
  const record = signing(
    given,
    keys.map(({ jwk }) => jwk),
  )
  const { namespace } = resource.metadata
  // Versions in place of values: a digest must tell nothing of a secret.
  const stated = realmRecord(spec, (reference) => read(reference)?.version ?? '')
  const versioned = signing(
    stated,
    keys.map(({ kid }) => kid),
  )
  return {
    desired: {
      uri: spec.uri,
      digest: digestOf(versioned),
      record,
      namespace,
    },
    spec,
    terms: termsOf(spec, record, namespace),
    groups: callerGroupsOf(record),
    namespace,
    generation: resource.metadata.generation,
    uid: resource.metadata.uid,
  }
}

const termsOf = (spec: RealmSpec, record: RealmRecord, namespace: string): RealmTerms => {
  const hosts = allowedHosts(spec)
  const terms = { uri: spec.uri, namespace, facts: factsOf(record) }
  return hosts === undefined ? terms : { ...terms, allowedHosts: hosts }
}

/** `allowedHosts`, in the grammar of host-entries.ts; absent: any host. */
const allowedHosts = (spec: RealmSpec): readonly string[] | undefined => {
  const hosts = memberAt(spec, 'allowedHosts')
  return isList(hosts) ? hosts.filter((host) => typeof host === 'string') : undefined
}
