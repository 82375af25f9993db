// This file cuts off clients that take nothing of their answers, or idle for too long. Else they would hold what
// waits for them for ever: memory, and a place in the pool of an upstream. It costs a request nothing.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ClientProgress, type ProgressLimits } from './client-progress.ts'

export interface StallTimes extends Pick<ProgressLimits, 'stallMs'> {
  /** How often connections are looked at: a stall is noticed at most that much later. */
  readonly sweepMs: number
}

/** As long as nginx waits by default (`send_timeout`). */
export const STALL_TIMES: StallTimes = { stallMs: 60_000, sweepMs: 5000 }

/** Until the server closes. */
export const cutOffStalledClients = (
  server: Server,
  event: 'connection' | 'secureConnection',
  options: StallTimes & ProgressLimits,
): void => {
  const clients = new Map<Socket, ClientProgress>()
  // By sweeps, not by wall time: a process that stood still takes nobody for a staller.
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
