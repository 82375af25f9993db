// Describes for the log what differs between two desired states: the first resources by name, and how many there are.

import { changedKeys } from '../edited-map.ts'
import type { DesiredSet } from '../desired-set.ts'

const MAX_NAMES = 8

/** For the fields of a line of the log. */
export interface ChangeDescription {
  /** Resources that have come, changed or gone. */
  readonly changed: number
  /** @example ['ApiSpecification shop/orders', 'realm com.shop'] */
  readonly first: readonly string[]
}

export const describeChange = (before: DesiredSet, after: DesiredSet): ChangeDescription => {
  const realms = [...changedKeys(before.realms, after.realms)]
  const documents = [...changedKeys(before.documents, after.documents)]
  const nameOf = (id: string): string => {
    const document = after.documents.get(id) ?? before.documents.get(id)
    return `ApiSpecification ${document?.resource ?? id}`
  }
  return {
    changed: realms.length + documents.length,
    first: [
      ...realms.slice(0, MAX_NAMES).map((uri) => `realm ${uri}`),
      ...documents.slice(0, MAX_NAMES).map(nameOf),
    ].slice(0, MAX_NAMES),
  }
}
