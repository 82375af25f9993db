// Waits until this process has read what was sent to it, for tests in which nothing must come of that.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/**
 * A byte goes to a server of its own and back. Whatever was written over loopback before it has arrived before it,
 * and the event loop has looked at it.
 */
export const roundTrip = async (): Promise<void> => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('x')
  await once(socket, 'data')
  socket.destroy()
  server.close()
  await once(server, 'close')
}
