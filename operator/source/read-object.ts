// Reads objects of the API server as the resources that the operator keeps. Unused parts (managed fields, last-applied,
// keys of Secrets that nothing refers to) are left out.

import { mapAt, memberAt, numberAt, textAt } from '../../language/expression/members.ts'
import { isMap, setOwn, type Value, type ValueMap } from '../../language/expression/value.ts'
import { type KnownMetadata, readResource } from '../resource/read-resource.ts'
import { readRecordedStatus } from '../resource/recorded-status.ts'
import { isReleased } from '../resource/released.ts'
import type { ConfigMapResource, Resource, SecretResource } from '../resource/resource.ts'
import { DEFAULT_CLASS } from '../resource/resource-schema.ts'
import { isSameValue } from '../resource/same-value.ts'
import type { WantedKeys } from './referenced-objects.ts'

/** Repeats the whole object, with the values of a Secret. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * An ApiSpecification or a Realm; undefined: of another class. An object whose class can't be read may be ours. One
 * that has left our class is included until its status says so.
 * @param operator the name by which statuses that we have written are recognised; absent: none are
 * @param before of the same name: each status that is written brings the whole document again, which is not kept twice
 * @throws Error where this is no object of the API
 */
export const readOfClass =
  (className: string, operator?: string) =>
  (object: ValueMap, before?: Resource): Resource | undefined => {
    const spec = mapAt(object, 'spec')
    const named = memberAt(spec, 'gatewayClassName') ?? DEFAULT_CLASS
    const isForeign = typeof named === 'string' && named !== className
    if (isForeign && !isLeaving(object, operator)) return undefined
    return withKnownSpec(readOfAnyClass(object), before)
  }

/** @throws Error where this is not an object of the API */
export const readOfAnyClass = (object: ValueMap): Resource =>
  read(object, pick(object, ['apiVersion', 'kind', 'spec', 'status']), ['labels', 'annotations'])

/** The operator of its new class writes the status from then on. */
const isLeaving = (object: ValueMap, operator: string | undefined): boolean => {
  if (operator === undefined) return false
  const recorded = readRecordedStatus(memberAt(object, 'status'))
  return recorded?.writtenBy === operator && !isReleased(recorded.conditions)
}

const withKnownSpec = (resource: Resource, before: Resource | undefined): Resource => {
  if (before?.metadata.uid !== resource.metadata.uid) return resource
  if (before.metadata.generation !== resource.metadata.generation) return resource
  if (!('checked' in before && 'checked' in resource) || before.kind !== resource.kind) {
    return resource
  }
  // A storage that went back in time counts generations from an earlier one.
  const isSame = isSameValue(before.checked, resource.checked)
  return isSame ? ({ ...resource, checked: before.checked } as Resource) : resource
}

/** Labels and annotations only. */
export const readNamespace = (object: ValueMap): Resource =>
  read(object, pick(object, ['apiVersion', 'kind']), ['labels', 'annotations'])

/** A Secret or ConfigMap with the wanted keys; of the others some names, for a person. */
export const readKeyed =
  (keys: WantedKeys) =>
  (object: ValueMap): SecretResource | ConfigMapResource => {
    const data = pick(object, ['data', 'binaryData'])
    const otherKeys: string[] = []
    for (const [name, member] of Object.entries(data)) {
      if (!isMap(member) || keys === 'all') continue
      otherKeys.push(...Object.keys(member).filter((key) => !keys.has(key)))
      setOwn(data, name, pick(member, keys))
    }
    const resource = read(object, { ...pick(object, ['apiVersion', 'kind']), ...data }, [])
    if (resource.kind !== 'Secret' && resource.kind !== 'ConfigMap') {
      throw new Error(`a ${resource.kind} where a Secret or ConfigMap was asked for`)
    }
    if (otherKeys.length === 0) return resource
    return { ...resource, otherKeys: otherKeys.slice(0, MAX_OTHER_KEYS) }
  }

const MAX_OTHER_KEYS = 10

const read = (
  object: ValueMap,
  kept: ValueMap,
  keptMetadata: readonly ('labels' | 'annotations')[],
): Resource => {
  const metadata = mapAt(object, 'metadata')
  const own = pick(metadata, ['name', 'namespace', 'creationTimestamp', ...keptMetadata])
  const annotations = memberAt(own, 'annotations')
  if (isMap(annotations)) setOwn(own, 'annotations', withoutLastApplied(annotations))
  const result = readResource({ ...kept, metadata: own }, knownOf(metadata))
  if (result.result === 'resource') return result.resource
  const why = result.result === 'error' ? result.problems.map(({ message }) => message) : []
  throw new Error(`the API server sent an object that can't be read: ${why.join('; ')}`)
}

const knownOf = (metadata: ValueMap): KnownMetadata => {
  return {
    uid: textAt(metadata, 'uid'),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    // Secrets, ConfigMaps and Namespaces have none.
    generation: numberAt(metadata, 'generation') ?? 1,
    createdAt: 0,
  }
}

const withoutLastApplied = (annotations: ValueMap): ValueMap =>
  pick(
    annotations,
    Object.keys(annotations).filter((name) => name !== LAST_APPLIED),
  )

const pick = (map: ValueMap, names: Iterable<string>): Record<string, Value> => {
  const picked: Record<string, Value> = {}
  for (const name of names) {
    const member = memberAt(map, name)
    if (member !== undefined) setOwn(picked, name, member)
  }
  return picked
}
