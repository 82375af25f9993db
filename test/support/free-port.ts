// Nothing comes in; a TCP port of 127.0.0.1 goes out that nobody listened on a moment ago. It is not
// reserved: for a server of one's own listen on port 0 instead.

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
