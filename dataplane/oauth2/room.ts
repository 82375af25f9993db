// Defines the context of every step of the room: the request, and the room's dependencies.

import type { UserRecord } from '../../language/realm/record.ts'
import type { FindUser } from '../security/passwords/realm-users.ts'
import type { OAuth2Deps, OAuthRequest } from './oauth2-endpoint.ts'
import type { Parameters } from './parameters.ts'
import type { RefreshFamilies } from './refresh-families.ts'

export interface OAuth2Room extends OAuth2Deps {
  readonly families: RefreshFamilies
  readonly lookUp: FindUser
}

export interface Exchange {
  readonly request: OAuthRequest
  readonly parameters: Parameters
  readonly room: OAuth2Room
  readonly trail: Trail
}

/** What is known for the audit line, filled in while the request is processed. */
export interface Trail {
  clientId?: string
  authid?: string
}

/** Finds a user in the current record of the realm, which may be replaced while a request waits. */
export const findUser = ({ room, request }: Exchange, username: string): UserRecord | undefined => {
  const record = room.realm(request.realmUri)
  return record && room.lookUp(record, username)
}

export const isInGroup = (user: UserRecord | undefined, group: string): user is UserRecord =>
  user?.groups?.includes(group) === true
