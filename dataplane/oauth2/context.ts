// Defines the context of every step of the room: the request, and the room's dependencies.

import type { UserRecord } from '../../language/realm/record.ts'
import type { FindUser } from '../security/passwords/realm-users.ts'
import type { OAuth2Deps, OAuthRequest } from './oauth2-endpoint.ts'
import type { Parameters } from './parameters.ts'
import type { RefreshFamilies } from './refresh-families.ts'

export interface OAuth2EndpointDeps extends OAuth2Deps {
  readonly families: RefreshFamilies
  readonly lookUp: FindUser
}

export interface OAuth2Context {
  readonly request: OAuthRequest
  readonly parameters: Parameters
  readonly endpointDeps: OAuth2EndpointDeps
  readonly audited: AuditFacts
}

/**
 * What is known for the audit line, filled in while the request is processed: names of users of the realm alone, as any
 * other may be a password that was typed into the wrong field.
 */
export interface AuditFacts {
  clientId?: string
  authid?: string
}

/** Finds a user in the current record of the realm, which may be replaced while a request waits. */
export const findUser = (
  { endpointDeps, request }: OAuth2Context,
  username: string,
): UserRecord | undefined => {
  const record = endpointDeps.realm(request.realmUri)
  return record && endpointDeps.lookUp(record, username)
}

export const isInGroup = (user: UserRecord | undefined, group: string): user is UserRecord =>
  user?.groups?.includes(group) === true
