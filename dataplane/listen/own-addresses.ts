// Derives from URLs and settings the socket addresses of the gateway's own listeners, which upstreams may not have.

import type { GatewaySettings } from '../config.ts'
import type { SocketEndpoint } from '../upstream/destinations/guard.ts'

/** Unix sockets are skipped, as no upstream can be there. */
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

/** The addresses of listeners that open when their certificates are there; port 0 is none. */
export const endpointsOfSettings = (
  settings: Pick<GatewaySettings, 'publicTls' | 'management'>,
): readonly SocketEndpoint[] =>
  [settings.publicTls, settings.management].flatMap((address) =>
    address?.kind !== 'tcp'
      ? []
      : [{ address: address.host === '' ? '::' : address.host, port: address.port }],
  )
