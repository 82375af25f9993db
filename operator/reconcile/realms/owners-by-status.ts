// Finds by their statuses the Realms that had a uri before this operator started while another one was refused it. Pure.

import { conditionOf } from '../../resource/condition.ts'
import type { RealmResource } from '../../resource/resource.ts'

/**
 * Key of the resource → uid. An older Realm may have been refused a uri, as it was of another class when a younger one got
 * it: a restart must not give it the uri, and with it the documents of others. A status that says Accepted is no proof by
 * itself: the operator of another class may have written it.
 */
export const ownersByStatus = (realms: ReadonlyMap<string, RealmResource>): Map<string, string> => {
  const refused = [...realms.values()].filter((realm) => acceptedOf(realm) === 'Conflicted')
  const contested = new Set(refused.map(uriOf))
  const owners = [...realms].filter(
    ([, realm]) => acceptedOf(realm) === 'Accepted' && contested.has(uriOf(realm)),
  )
  return new Map(owners.map(([key, { metadata }]) => [key, metadata.uid]))
}

const acceptedOf = ({ conditions = [] }: RealmResource): string | undefined =>
  conditionOf(conditions, 'Accepted')?.reason

const uriOf = ({ checked }: RealmResource): string | undefined =>
  'spec' in checked ? checked.spec.uri : undefined
