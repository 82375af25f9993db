// Finds the entry of a provider by its name in the route's realm. It looks up own members only, so that `__proto__`
// is no provider.

import type { OidcProviderRecord, RealmRecord } from '../../../language/realm/record.ts'
import { OidcError } from '../oidc-error.ts'
import type { ChosenProvider, OidcContext } from '../context.ts'

/** A realm has OIDC only while its `authmethods` contain both (specification §5). */
const NEEDED = ['oidcrp', 'cookie'] as const

/** @throws OidcError `unknown_provider` */
export const findProvider = (
  { request, endpointDeps }: Pick<OidcContext, 'request' | 'endpointDeps'>,
  name: string | undefined,
): ChosenProvider => {
  const realm = endpointDeps.realm(request.realmUri)
  const record = providerOf(realm, name)
  if (record === undefined || name === undefined)
    throw unknownProvider(entryOf(realm, name) !== undefined)
  return { name, record }
}

const unknownProvider = (isThere: boolean): OidcError =>
  isThere
    ? new OidcError(
        'unknown_provider',
        'the authmethods of the realm lack oidcrp or cookie; without both no login is possible',
        { setting: 'authmethods' },
      )
    : new OidcError(
        'unknown_provider',
        'the realm has no provider of this name; add it, or correct the name in the URL or the document',
        { setting: 'oidcProviders' },
      )

/** undefined: it is not there, or the realm allows no login by OpenID Connect. */
export const providerOf = (
  realm: RealmRecord | undefined,
  name: string | undefined,
): OidcProviderRecord | undefined => {
  const methods = realm?.authmethods ?? []
  return NEEDED.every((method) => methods.includes(method)) ? entryOf(realm, name) : undefined
}

/** Ignores the realm's `authmethods`: users who may no longer log in may still log out. */
export const entryOf = (
  realm: RealmRecord | undefined,
  name: string | undefined,
): OidcProviderRecord | undefined => {
  const providers = realm?.info?.oidc_providers ?? {}
  return name !== undefined && Object.hasOwn(providers, name) ? providers[name] : undefined
}
