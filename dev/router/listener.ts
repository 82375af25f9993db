// Defines the interface of a listener of either transport, and opens its port.

import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { Inlet, Outlet } from './connection.ts'

export interface ListenerNeeds {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly maxMessageBytes: number
  readonly maxQueuedBytes: number
  /** A client has connected. */
  readonly accept: (outlet: Outlet) => Inlet
}

export interface Listener {
  readonly url: string
  /** Accepts no more clients; those who are still connected after `leaveMs` are dropped. Idempotent. */
  readonly close: (leaveMs: number) => Promise<void>
}

/** For clients that were told to leave, to read it and to leave. */
export const LEAVE_MS = 1000

/** Plenty for a playground, and a bound for a client that opens connections in a loop. */
const MAX_CONNECTIONS = 10_000

/** @throws the error of `listen` */
export const listenOn = async (
  server: Server,
  { host, port }: Pick<ListenerNeeds, 'host' | 'port'>,
): Promise<number> => {
  server.maxConnections = MAX_CONNECTIONS
  await once(server.listen(port, host), 'listening')
  return (server.address() as AddressInfo).port
}

/** Ends a server whose sockets are known: when all have closed or been dropped. */
export const endServer = async (
  server: Server,
  leaveMs: number,
  dropAll: () => void,
): Promise<void> => {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  const timer = setTimeout(dropAll, leaveMs)
  await closed
  clearTimeout(timer)
}
