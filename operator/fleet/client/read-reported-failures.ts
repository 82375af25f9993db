// Reads which upstreams, identity providers and credentials a data plane reports as failing. All of it stands in statuses,
// so nothing is read but names, causes of closed sets and details of a strict form; anything else is left out.

import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import type {
  CredentialCause,
  FailingCredential,
  FailingProvider,
  ProviderCause,
  UpstreamCause,
  UpstreamTrouble,
} from '../../../language/wire/wire.ts'
import { isMemberOf, isName, mapsIn } from './read-values.ts'

/** By id of the document. */
export const readFailingUpstreams = (
  failures: ValueMap,
): Readonly<Record<string, UpstreamTrouble>> =>
  Object.fromEntries(
    Object.entries(failures)
      .slice(0, MAX_UPSTREAMS)
      .flatMap(([id, failure]) => {
        const read = isMap(failure) ? readUpstream(failure) : undefined
        return read === undefined ? [] : [[id, read] as const]
      }),
  )

/** @param realm state of one realm */
export const readFailingProviders = (realm: ValueMap): readonly FailingProvider[] =>
  mapsIn(realm, 'failingProviders', MAX_PROVIDERS).flatMap(readProvider)

/** @param realm state of one realm */
export const readFailingCredentials = (realm: ValueMap): readonly FailingCredential[] =>
  mapsIn(realm, 'failingCredentials', MAX_CREDENTIALS).flatMap(readCredential)

const MAX_UPSTREAMS = 200
const MAX_PROVIDERS = 16
const MAX_CREDENTIALS = 16

const readUpstream = ({ origin, cause }: ValueMap): UpstreamTrouble | undefined =>
  isOrigin(origin) && isMemberOf(UPSTREAM_CAUSES, cause) ? { origin, cause } : undefined

const isOrigin = (value: Value | undefined): value is string =>
  typeof value === 'string' && /^https?:\/\/[\w.:[\]-]{1,255}$/.test(value)

const UPSTREAM_CAUSES = {
  refused: true,
  no_service: true,
  no_endpoints: true,
  dns: true,
  tls: true,
  denied: true,
  connect_timeout: true,
  timeout: true,
  reset: true,
  malformed: true,
  status_502: true,
  status_503: true,
  status_504: true,
} satisfies Record<UpstreamCause, true>

const readProvider = ({ provider, cause, found }: ValueMap): readonly FailingProvider[] =>
  isName(provider) && isMemberOf(PROVIDER_CAUSES, cause)
    ? [{ provider, cause, ...(isProviderDetail(found) && { found }) }]
    : []

/** An issuer without userinfo and query, or a status. */
const isProviderDetail = (value: Value | undefined): value is string =>
  typeof value === 'string' && /^(?:https?:\/\/[\w.:[\]{}/~%-]{1,200}|\d{3})$/.test(value)

const PROVIDER_CAUSES = {
  refused: true,
  dns: true,
  tls: true,
  denied: true,
  timeout: true,
  reset: true,
  plain_http: true,
  status: true,
  metadata: true,
  issuer: true,
} satisfies Record<ProviderCause, true>

const readCredential = ({ credential, cause, found }: ValueMap): readonly FailingCredential[] =>
  isName(credential) && isMemberOf(CREDENTIAL_CAUSES, cause)
    ? [{ credential, cause, ...(isCredentialDetail(found) && { found }) }]
    : []

/** A status, an error code of OAuth 2.0, or a time. */
const isCredentialDetail = (value: Value | undefined): value is string =>
  typeof value === 'string' && /^(?:\d{3}|[a-z_]{1,64}|[\dT:Z-]{20})$/.test(value)

const CREDENTIAL_CAUSES = {
  refused: true,
  dns: true,
  tls: true,
  denied: true,
  timeout: true,
  reset: true,
  status: true,
  response: true,
  invalid_client: true,
  oauth_error: true,
  certificate_invalid: true,
  certificate_expired: true,
  certificate_early: true,
  certificate_ends: true,
} satisfies Record<CredentialCause, true>
