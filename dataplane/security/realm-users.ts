// Users of a realm by their name: a record in, lookups out. What is made of a record lives as long as it does.

import type { RealmRecord, UserRecord } from '../../spec/realm-record.ts'

export type FindUser = (record: RealmRecord, username: string) => UserRecord | undefined

/** Names are compared as they stand. Of two users with one name the first counts. */
export const createUserLookup = (): FindUser => {
  const known = new WeakMap<RealmRecord, ReadonlyMap<string, UserRecord>>()
  return (record, username) => {
    let users = known.get(record)
    if (users === undefined) {
      users = new Map((record.users ?? []).toReversed().map((user) => [user.username, user]))
      known.set(record, users)
    }
    return users.get(username)
  }
}
