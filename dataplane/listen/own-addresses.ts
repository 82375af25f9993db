// URLs and settings of the gateway's own listeners in, the socket addresses that no upstream may have out.

import type { GatewaySettings } from '../config.ts'
import type { SocketEndpoint } from '../upstream/destinations/guard.ts'

/** Unix sockets are out of an upstream's reach and are passed over. */
export const endpointsOf = (urls: readonly string[]): readonly SocketEndpoint[] =>
  urls.flatMap((text) => {
    if (!URL.canParse(text)) return []
    const { protocol, hostname, port } = new URL(text)
    if (protocol !== 'http:' && protocol !== 'https:') return []
    const defaultPort = protocol === 'https:' ? 443 : 80
    return [
      {
        address: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? defaultPort : Number(port),
      },
    ]
  })

/** Where listeners will be that open when their certificates are there; port 0 is nobody's. */
export const endpointsOfSettings = (
  settings: Pick<GatewaySettings, 'publicTls' | 'management'>,
): readonly SocketEndpoint[] =>
  [settings.publicTls, settings.management].flatMap((address) =>
    address?.kind !== 'tcp'
      ? []
      : [{ address: address.host === '' ? '::' : address.host, port: address.port }],
  )
