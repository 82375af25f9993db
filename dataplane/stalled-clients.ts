// A server in; clients that take nothing of their answers are cut off. Else they would hold what waits for
// them for ever: memory, and a place in the pool of an upstream. It costs a request nothing.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface StallTimes {
  /** Longest time without a byte going out, while bytes wait. */
  readonly stallMs: number
  /** How often connections are looked at: a stall is noticed at most that much later. */
  readonly sweepMs: number
}

/** As long as nginx waits by default (`send_timeout`). */
export const STALL_TIMES: StallTimes = { stallMs: 60_000, sweepMs: 5000 }

/** Until the server closes. */
export const cutOffStalledClients = (
  server: Server,
  event: 'connection' | 'secureConnection',
  { stallMs, sweepMs }: StallTimes,
): void => {
  const sockets = new Set<Socket>()
  server.on(event, (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A socket's own timer knows of all that leaves, though the kernel tells in bursts of a third of its
  // buffer; it is started only where bytes wait.
  const sweep = setInterval(() => {
    for (const socket of sockets)
      if (socket.writableLength > 0 && !isTimed(socket)) socket.setTimeout(stallMs)
  }, sweepMs).unref()
  server.on('timeout', (socket: Socket) => {
    if (!waitsForUs(socket)) socket.destroy()
  })
  server.once('close', () => {
    clearInterval(sweep)
  })
}

const isTimed = ({ timeout }: Socket): boolean => timeout !== undefined && timeout > 0

/** Its answer is not ready and nothing of it waits. Otherwise it stalls, or is idle between requests. */
const waitsForUs = (socket: Socket): boolean => {
  const { _httpMessage: message } = socket as { _httpMessage?: object | null }
  return message !== undefined && message !== null && socket.writableLength === 0
}
