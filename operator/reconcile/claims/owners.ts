// Decides who owns an id or a uri that several resources name: the one that serves it, else the oldest. Pure.

import { byAge, type Resource } from '../../resource/resource.ts'

export interface Claimant<R extends Resource> {
  /** `keyOf` of the resource. */
  readonly key: string
  readonly resource: R
  /** Document id, or realm uri. */
  readonly id: string
  /** Of its last good version: an older resource that comes to name this id takes it from nobody. */
  readonly lastId: string | undefined
}

/** id → the claimant that owns it. */
export const ownersOf = <R extends Resource>(
  claimants: readonly Claimant<R>[],
): ReadonlyMap<string, Claimant<R>> => {
  const owners = new Map<string, Claimant<R>>()
  for (const claimant of claimants) {
    const owner = owners.get(claimant.id)
    if (owner === undefined || comesBefore(claimant, owner)) owners.set(claimant.id, claimant)
  }
  return owners
}

const comesBefore = <R extends Resource>(left: Claimant<R>, right: Claimant<R>): boolean =>
  isEstablished(left) === isEstablished(right)
    ? byAge(left.resource, right.resource) < 0
    : isEstablished(left)

type Naming = Pick<Claimant<Resource>, 'id' | 'lastId'>

const isEstablished = ({ id, lastId }: Naming): boolean => id === lastId

/** It would leave an id that serves for another one. */
export const isRenamed = ({ id, lastId }: Naming): boolean => lastId !== undefined && id !== lastId

/** The winner is named only within the namespace: another one's resources are not told. */
export const ownedWords = (what: string, loser: Resource, owner: Resource): string => {
  const { namespace, name } = owner.metadata
  const winner =
    namespace === loser.metadata.namespace
      ? `${owner.kind} ${namespace}/${name}${whereOf(owner)}`
      : `an older ${owner.kind} of another namespace`
  return `${what} belongs to ${winner}: give this one another, or delete the other`
}

const whereOf = ({ origin }: Resource): string =>
  origin === undefined ? '' : ` (${origin.file}:${origin.line})`
