// Opens the transport that a router's address asks for. It never throws: one that cannot even be tried ends as
// unreachable.

import { createUnboundedMemory, type MemoryBudget } from '../../memory/memory-budget.ts'
import { parseRouterUrl } from './router-url.ts'
import { openRawSocketTransport } from './rawsocket.ts'
import { reasonOf, type TransportOpening } from './connection.ts'
import type { OpenTransport, Transport, TransportHandlers } from '../protocol/transport.ts'
import { openWebSocketTransport } from './websocket.ts'

export interface TransportOpenerOptions extends Omit<TransportOpening, 'closeGraceMs' | 'memory'> {
  /** How long a close may take before the connection is destroyed; 1000 ms when absent. */
  readonly closeGraceMs?: number
  /** Unbounded when absent. */
  readonly memory?: MemoryBudget
}

/**
 * @example
 * const openTransport = createTransportOpener({ dial: createRouterDial([]) })
 * const transport = openTransport({ url: 'ws://127.0.0.1:8080/ws', …target }, handlers)
 */
export const createTransportOpener = (options: TransportOpenerOptions): OpenTransport => {
  const opening = { closeGraceMs: 1000, memory: createUnboundedMemory(), ...options }
  return (target, handlers) => {
    const url = parseRouterUrl(target.url)
    try {
      if (url.kind === 'invalid') return unreachable(handlers, `its URL is of no use: ${url.why}`)
      if (target.serializers.length === 0) return unreachable(handlers, 'there is no serializer')
      return url.kind === 'websocket'
        ? openWebSocketTransport(url, target, handlers, opening)
        : openRawSocketTransport(url, target, handlers, opening)
    } catch (error) {
      return unreachable(handlers, error instanceof Error ? reasonOf(error) : 'it cannot be tried')
    }
  }
}

/** The end is reported after this has returned, as that of any other. */
const unreachable = (handlers: TransportHandlers, reason: string): Transport => {
  process.nextTick(() => {
    handlers.onClose({ kind: 'unreachable', reason })
  })
  return {
    send: () => undefined,
    bufferedBytes: 0,
    hasRoom: true,
    close: () => undefined,
  }
}
