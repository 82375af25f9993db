// Finds members that this version does not know in an entry of a sync call or snapshot that a newer version may have
// written. An entry with an unknown member that is critical, such as a policy, is rejected.

import { isMap } from '../../../language/expression/value.ts'
import type { Problem } from '../../../language/problem.ts'
import { type EntryKind, isKnownMember, unknownMembers } from '../../../language/wire/members.ts'

export interface NewerEntry {
  /** JSON pointers that the sender has named. */
  readonly critical: readonly string[]
  /** Members beside the realm or the document were ignored: the entry has more than what is stored of it. */
  readonly isPartial: boolean
}

const MAX_CRITICAL = 100
const MAX_POINTER_LENGTH = 512

/** @example readNewerEntry('spec', { id: 'a', …, quota: 3, critical: ['/quota'] }) // { problems: [{ path: '/quota', … }] } */
export const readNewerEntry = (
  kind: EntryKind,
  entry: unknown,
): NewerEntry | { readonly problems: readonly Problem[] } => {
  const critical = isMap(entry) && Object.hasOwn(entry, 'critical') ? entry['critical'] : []
  if (!isPointers(critical)) return { problems: [UNFIT] }
  const missed = critical.filter((pointer) => !isKnownMember(kind, pointer))
  if (missed.length > 0) return { problems: missed.map(tooOldFor) }
  // Unknown members of a realm are stored with its record.
  const isPartial = unknownMembers(kind, entry).some((pointer) => !pointer.startsWith('/realm/'))
  return { critical, isPartial }
}

const isPointers = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length <= MAX_CRITICAL &&
  value.every(
    (each) => typeof each === 'string' && each.length <= MAX_POINTER_LENGTH && each.startsWith('/'),
  )

const UNFIT: Problem = {
  code: 'invalid_datatype',
  path: '/critical',
  message: `Up to ${MAX_CRITICAL} JSON pointers are expected here.`,
}

const tooOldFor = (path: string): Problem => ({
  code: 'invalid_value',
  path,
  message: 'This gateway is too old for this policy, and may not ignore it: update the gateway.',
})
