// Provides the metadata of a provider, from the cache or by discovery.

import { OidcRefusal } from '../refusal.ts'
import type { ChosenProvider, DiscoveredProvider, OidcContext } from '../context.ts'

/** @throws OidcRefusal `provider_unavailable` */
export const discoverMetadata = async ({
  endpointDeps,
  provider,
}: OidcContext & { readonly provider: ChosenProvider }): Promise<DiscoveredProvider> => {
  try {
    return { known: await endpointDeps.providers.find(provider.record) }
  } catch (cause) {
    throw new OidcRefusal('provider_unavailable', 'discovery of the provider failed', {
      cause,
      provider: provider.name,
      setting: 'issuer',
    })
  }
}
