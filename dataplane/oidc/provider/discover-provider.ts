// Provides the metadata of a provider, from the cache or by discovery, and says for the log what to do where that fails.

import type { ProviderCause } from '../../../language/wire/wire.ts'
import { OidcError, type ProviderSetting } from '../oidc-error.ts'
import type { ChosenProvider, DiscoveredProvider, OidcContext } from '../context.ts'
import { discoveryFailureOf, issuerText } from './discovery-failure.ts'

/** @throws OidcError `provider_unavailable` */
export const discoverMetadata = async ({
  endpointDeps,
  provider,
}: OidcContext & { readonly provider: ChosenProvider }): Promise<DiscoveredProvider> => {
  try {
    return { known: await endpointDeps.providers.find(provider.record) }
  } catch (cause) {
    const failure = discoveryFailureOf(cause)
    const [message, setting] = DISCOVERY_REMEDIES[failure.cause]
    const isElsewhere = provider.record.discovery_url !== undefined && setting === 'issuer'
    throw new OidcError('provider_unavailable', message, {
      cause,
      setting: isElsewhere && failure.cause !== 'issuer' ? 'discoveryUrl' : setting,
      facts: {
        reason: failure.cause,
        issuer: issuerText(provider.record.issuer),
        found: failure.found,
      },
    })
  }
}

/** What is wrong and what to do, and the setting to look at. @internal exported for tests */
export const DISCOVERY_REMEDIES = {
  refused: [
    'the issuer does not accept connections; is it running, and are its host and port right?',
    'issuer',
  ],
  dns: ["the name of the issuer can't be resolved; is it spelt correctly?", 'issuer'],
  tls: [
    'TLS with the issuer failed; if its CA is a private one, set ca (or --upstream-ca), and check name and port',
    'ca',
  ],
  denied: [
    'the issuer is not an allowed destination (--upstream-allow, --upstream-deny)',
    'issuer',
  ],
  timeout: ['the issuer did not answer within 5 s; is it the right host and port?', 'issuer'],
  reset: ['what listens at the issuer does not answer in HTTP; is the port right?', 'issuer'],
  plain_http: [
    'the issuer, or an endpoint that it names, is http; use https, or set allowUnsafeHttp where that is safe',
    'allowUnsafeHttp',
  ],
  status: [
    'the issuer answered the request for /.well-known/openid-configuration with another status than 200; is its path right?',
    'issuer',
  ],
  metadata: ['the issuer sent no metadata of an OpenID provider; is it the right URL?', 'issuer'],
  issuer: [
    'the metadata name another issuer; write it exactly as the provider does, slash at the end included; where it has braces, write the issuer of your tenant, or issuerPattern and tenants',
    'issuer',
  ],
} as const satisfies Record<ProviderCause, readonly [string, ProviderSetting]>
