// Gives the socket of a connection with what connected: no transport tells how much has come through it.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** Of one TCP connection, whatever opened it; TLS tells of none. */
export const withSocket = async <T>(connect: () => Promise<T>): Promise<[T, Socket]> => {
  const sockets: Socket[] = []
  const keep = (opened: unknown): void => void sockets.push((opened as { socket: Socket }).socket)
  subscribe('net.client.socket', keep)
  try {
    const connected = await connect()
    const [socket] = sockets
    if (socket === undefined) throw new Error('it has no socket')
    return [connected, socket]
  } finally {
    unsubscribe('net.client.socket', keep)
  }
}
