// A Realm and the Secrets it names in; its record and digest, or what stands in the way, out. Pure: which
// Realm owns a uri is decided elsewhere.

import type { RealmFacts } from '../../spec/environment.ts'
import { digestOf } from '../../spec/digest.ts'
import type { ValueMap } from '../../spec/expression/value.ts'
import type { Problem } from '../../spec/problem.ts'
import { factsOf } from '../../spec/realm-facts.ts'
import type { RealmRecord } from '../../spec/realm-record.ts'
import { validateRealm } from '../../spec/validate-realm.ts'
import type { DesiredRealm } from '../desired-set.ts'
import type { Finding } from '../resource/condition.ts'
import { realmRecord, secretReferences, specPointer } from '../resource/realm-record.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import type { KeyReference, RealmResource, RealmSpec } from '../resource/resource.ts'
import { findSecret, type Found, readSecretKey, type SecretText } from '../resource/secret-value.ts'
import { ACCEPTED, invalid, missing, REFERENCES_PENDING, RESOLVED } from './findings.ts'

export interface RealmJudgement {
  readonly accepted: Finding<'Accepted'>
  readonly resolvedRefs: Finding<'ResolvedRefs'>
  readonly errors: readonly Problem[]
  /** Absent when the spec can't be read. */
  readonly uri?: string
  readonly good?: GoodRealm
}

/** A version of a Realm that may be put. */
export interface GoodRealm {
  readonly desired: DesiredRealm
  readonly spec: RealmSpec
  /** What documents are judged against. */
  readonly facts: RealmFacts
  readonly namespace: string
  readonly generation: number
}

export const judgeRealm = (resource: RealmResource, cache: ResourceCache): RealmJudgement => {
  if ('problems' in resource.checked) {
    const errors = resource.checked.problems
    return { accepted: invalid(errors), resolvedRefs: REFERENCES_PENDING, errors }
  }
  const { spec } = resource.checked
  const secrets = readSecrets(spec, resource.metadata.namespace, cache)
  const judgement = { accepted: ACCEPTED, errors: [], uri: spec.uri }
  if ('missing' in secrets) return { ...judgement, resolvedRefs: missing(secrets.missing) }
  const good = goodRealm(resource, spec, secrets.found)
  const errors = checkRecord(good.desired.record)
  if (errors.length > 0) {
    return { ...judgement, accepted: invalid(errors), resolvedRefs: RESOLVED, errors }
  }
  return { ...judgement, resolvedRefs: RESOLVED, good }
}

/** By the schema that the data plane judges with: what passes here is not refused there. */
const checkRecord = (record: RealmRecord): readonly Problem[] => {
  const validation = validateRealm(record)
  if (validation.ok) return []
  return validation.problems.map((problem) => ({ ...problem, path: specPointer(problem.path) }))
}

/** What the judgement depends on, for a memo: the resource and every Secret it names. */
export const realmInputs = (resource: RealmResource, cache: ResourceCache): readonly unknown[] => {
  if ('problems' in resource.checked) return [resource]
  const names = secretReferences(resource.checked.spec).map(({ name }) => name)
  return [resource, ...names.map((name) => secretInput(cache, resource.metadata.namespace, name))]
}

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

const goodRealm = (resource: RealmResource, spec: RealmSpec, secrets: Secrets): GoodRealm => {
  const read = (reference: KeyReference): SecretText | undefined =>
    secrets.get(referenceKey(reference))
  const record = realmRecord(spec, (reference) => read(reference)?.text ?? '')
  // Versions in place of values: a digest must tell nothing of a secret.
  const versioned = realmRecord(spec, (reference) => read(reference)?.version ?? '')
  return {
    desired: { uri: spec.uri, digest: digestOf(versioned as unknown as ValueMap), record },
    spec,
    facts: factsOf(record),
    namespace: resource.metadata.namespace,
    generation: resource.metadata.generation,
  }
}
