// URLs of the gateway's own listeners in, the socket addresses that no upstream may have out.

import type { SocketEndpoint } from './upstream/guard.ts'

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
