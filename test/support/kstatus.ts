// Computes the status of an object as kstatus (Flux, kpt, helm --wait) does, from what the API server gives: the rules
// for resources that it does not know by kind, in their order, as the README of kubernetes-sigs/cli-utils, pkg/kstatus,
// has them (sigs.k8s.io/cli-utils v0.37.2). The Go library itself is not run here: it takes minutes to fetch and build.
// It has found the same of test/golden/gitops.

import { mapAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'

export type KubernetesHealth = 'Terminating' | 'InProgress' | 'Failed' | 'Current'

export const kstatus = (object: ValueMap): KubernetesHealth => {
  const metadata = mapAt(object, 'metadata')
  const status = mapAt(object, 'status')
  if (metadata['deletionTimestamp'] !== undefined) return 'Terminating'
  const observed = status['observedGeneration']
  if (observed !== undefined && observed !== metadata['generation']) return 'InProgress'
  const conditions = isList(status['conditions']) ? status['conditions'] : []
  if (isTrue(conditions, 'Reconciling')) return 'InProgress'
  if (isTrue(conditions, 'Stalled')) return 'Failed'
  const ready = conditionOf(conditions, 'Ready')
  if (ready !== undefined) return ready['status'] === 'True' ? 'Current' : 'InProgress'
  return 'Current'
}

const isTrue = (conditions: readonly Value[], type: string): boolean =>
  conditionOf(conditions, type)?.['status'] === 'True'

const conditionOf = (conditions: readonly Value[], type: string): ValueMap | undefined =>
  conditions.filter(isMap).find((condition) => condition['type'] === type)
