// Provides the metadata of a provider, from the cache or by discovery.

import { OidcRefusal } from '../refusal.ts'
import type { ChosenProvider, DiscoveredProvider, Exchange } from '../room.ts'

/** @throws OidcRefusal `provider_unavailable` */
export const discoverMetadata = async ({
  room,
  provider,
}: Exchange & { readonly provider: ChosenProvider }): Promise<DiscoveredProvider> => {
  try {
    return { known: await room.providers.find(provider.record) }
  } catch (cause) {
    throw new OidcRefusal('provider_unavailable', 'discovery of the provider failed', { cause })
  }
}
