// Defines the context of every step of the room: the request, and the room's dependencies.

import type { OidcProviderRecord } from '../../language/realm/record.ts'
import type { OidcDeps, OidcEndpointName, OidcRequest } from './oidc-endpoint.ts'
import type { KnownProvider, ProviderRegistry } from './provider/provider-registry.ts'

export interface OidcEndpointDeps extends OidcDeps {
  readonly providers: ProviderRegistry
  /** Once a minute for each kind of failure how many were left out since; undefined: this one is. */
  readonly leftOut: (kind: string) => number | undefined
}

export interface OidcContext {
  readonly endpoint: OidcEndpointName
  readonly request: OidcRequest
  readonly endpointDeps: OidcEndpointDeps
}

/** A provider of the route's realm. */
export interface ChosenProvider {
  readonly name: string
  readonly record: OidcProviderRecord
}

/** A provider with its metadata. */
export interface DiscoveredProvider {
  readonly known: KnownProvider
}
