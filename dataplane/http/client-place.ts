// Determines by which address a client counts where something is shared among clients: its own, or none if only a
// proxy's is known.

import { clientAddress } from '../client-address.ts'
import { placeOf } from '../security/passwords/login-throttle.ts'
import type { IncomingRequest } from './incoming-request.ts'

/**
 * undefined: there may be many clients, behind a trusted proxy that does not name them, or on a socket without
 * addresses.
 */
export const placeOfClient = ({
  request,
  client,
}: Pick<IncomingRequest, 'request' | 'client'>): string | undefined => {
  if (client?.isAddressKnown === false) return undefined
  const address = clientAddress(request, client)
  return address === '' ? undefined : placeOf(address)
}
