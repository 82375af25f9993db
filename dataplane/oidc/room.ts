// What every step of the room is given: the request, and what the room works with.

import type { OidcProviderRecord } from '../../language/realm/record.ts'
import type { OidcDeps, OidcEndpointName, OidcRequest } from './oidc-endpoint.ts'
import type { KnownProvider, ProviderRegistry } from './provider/provider-registry.ts'

export interface OidcRoom extends OidcDeps {
  readonly providers: ProviderRegistry
}

export interface Exchange {
  readonly endpoint: OidcEndpointName
  readonly request: OidcRequest
  readonly room: OidcRoom
}

/** A provider of the route's realm. */
export interface ChosenProvider {
  readonly name: string
  readonly record: OidcProviderRecord
}

/** With what it says of itself. */
export interface DiscoveredProvider {
  readonly known: KnownProvider
}
