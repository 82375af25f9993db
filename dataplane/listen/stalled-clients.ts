// Disconnects clients that read nothing of their responses, or idle for too long. Otherwise they would hold memory,
// and a slot in the pool of an upstream, for ever. It costs a request nothing.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ClientProgress, type ProgressLimits } from './client-progress.ts'

export interface StallTimes extends Pick<ProgressLimits, 'stallMs'> {
  /** How often connections are checked: a stall is noticed at most that much later. */
  readonly sweepMs: number
}

/** The default of nginx (`send_timeout`). */
export const STALL_TIMES: StallTimes = { stallMs: 60_000, sweepMs: 5000 }

/** Checks the connections until the server closes. */
export const cutOffStalledClients = (
  server: Server,
  event: 'connection' | 'secureConnection',
  options: StallTimes & ProgressLimits,
): void => {
  const clients = new Map<Socket, ClientProgress>()
  // Counted in sweeps, not by wall time, so that a process that stood still blames no client.
  let nowMs = 0
  server.on(event, (socket: Socket) => {
    clients.set(socket, new ClientProgress(nowMs))
    socket.once('close', () => clients.delete(socket))
  })
  const sweep = setInterval(() => {
    nowMs += options.sweepMs
    for (const [socket, progress] of clients)
      if (progress.isTooSlow(socket, nowMs, options)) socket.destroy()
  }, options.sweepMs).unref()
  server.once('close', () => {
    clearInterval(sweep)
  })
}
