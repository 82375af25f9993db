// Looks up users of a realm by name. The index of a record lives as long as the record.

import type { RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import { oncePer } from '../../../base/once.ts'

export type FindUser = (record: RealmRecord, username: string) => UserRecord | undefined

/** Names are compared exactly. Of two users with one name the first counts. */
export const createUserLookup = (): FindUser => {
  const usersOf = oncePer(
    ({ users = [] }: RealmRecord): ReadonlyMap<string, UserRecord> =>
      new Map(users.toReversed().map((user) => [user.username, user])),
  )
  return (record, username) => usersOf(record).get(username)
}
