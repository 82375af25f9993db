// This file tells whose request it is where something is shared out among clients: by the address of the client, or
// by none where only a proxy's is known.

import { clientAddress } from '../client-address.ts'
import { placeOf } from '../security/passwords/damping.ts'
import type { Arrival } from './arrival.ts'

/** undefined: behind a trusted proxy that does not say, or on a socket without addresses, there may be many. */
export const placeOfClient = ({
  request,
  client,
}: Pick<Arrival, 'request' | 'client'>): string | undefined => {
  if (client?.isAddressKnown === false) return undefined
  const address = clientAddress(request, client)
  return address === '' ? undefined : placeOf(address)
}
