// Decides which of several resources that name an id or a uri owns it: the one that serves it, else the oldest. Pure.

import { byAge, type Resource } from '../../resource/resource.ts'

export interface Claimant<R extends Resource> {
  /** `keyOf` of the resource. */
  readonly key: string
  readonly resource: R
  /** Document id, or realm uri. */
  readonly id: string
  /** The id of its last good version: a resource that serves an id keeps it, even if an older one names it later. */
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

/** Whether it asks for another id than the one that it serves. */
export const isRenamed = ({ id, lastId }: Naming): boolean => lastId !== undefined && id !== lastId

/** Names the winner only within the namespace, as resources of other namespaces are no concern of the loser. */
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
