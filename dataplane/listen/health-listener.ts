// Opens the health listener before anything else is loaded, and lets requests wait until the gateway can respond: a
// busy machine needs seconds for the rest, and a probe whose connection is refused is a Warning in Kubernetes.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewaySettings } from '../config.ts'
import { type ConnectionRefusal, createConnectionGate } from '../connections/connection-gate.ts'
import { createPlainServer } from './http-server.ts'
import { type Listener, openListener } from './listener.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

export interface HealthListener {
  readonly listener: Listener
  /** Sets the handler from now on; requests that waited are handled first. */
  answer(handle: Handle, onRefused: (reason: ConnectionRefusal) => void): void
}

/** Probes and scrapers are few. */
const MAX_CONNECTIONS = 256

/** @throws StartError when the address cannot be had; undefined where none is set */
export const openHealthListener = async (
  settings: GatewaySettings,
): Promise<HealthListener | undefined> => {
  const { health: address, headersTimeoutSeconds, maxConnections } = settings
  if (address === null) return undefined
  const waiting: (() => void)[] = []
  let onRefused: (reason: ConnectionRefusal) => void = () => undefined
  let handle: Handle = (request, response) => {
    waiting.push(() => {
      handle(request, response)
    })
  }
  const gate = createConnectionGate({
    max: Math.min(maxConnections ?? MAX_CONNECTIONS, MAX_CONNECTIONS),
    trustedProxies: [],
    proxyProtocol: [],
    headerTimeoutMs: headersTimeoutSeconds * 1000,
    onRefused: (reason) => {
      onRefused(reason)
    },
    onBadHeader: () => undefined,
  })
  const server = createPlainServer(
    { ...settings, gate },
    {
      onRequest: (request, response) => {
        handle(request, response)
      },
    },
  )
  const where = { setting: 'health', address, socketMode: 0o660, keepSocketFile: false } as const
  return {
    listener: await openListener(server, 'http', where),
    answer: (next, listener) => {
      handle = next
      onRefused = listener
      for (const go of waiting.splice(0)) go()
    },
  }
}
