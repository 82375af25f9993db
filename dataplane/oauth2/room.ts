// What every step of the room is given: the request, and what the room works with.

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

/** For the audit line, however the request ends: filled in as it becomes known. */
export interface Trail {
  clientId?: string
  authid?: string
}

/** A user as the realm has it at this moment: records may be replaced while somebody waits. */
export const findUser = ({ room, request }: Exchange, username: string): UserRecord | undefined => {
  const record = room.realm(request.realmUri)
  return record && room.lookUp(record, username)
}

export const isInGroup = (user: UserRecord | undefined, group: string): user is UserRecord =>
  user?.groups?.includes(group) === true
