// Creates the gates of the listeners from the settings: how many connections each accepts, and from where.

import type { Log } from '../../telemetry/log.ts'
import { countProcesses } from '../process-count.ts'
import type { GatewaySettings } from '../config.ts'
import { memoryBudgetOf } from '../memory/process-memory.ts'
import { createBadHeaderReport } from './bad-header-report.ts'
import {
  type ConnectionGate,
  type ConnectionRefusal,
  createConnectionGate,
} from './connection-gate.ts'
import { connectionsFor } from './connections-for.ts'

/** `public` is for both public listeners together. */
export type ListenerGates = Readonly<Record<'public' | 'management' | 'health', ConnectionGate>>

export interface ListenerGatesOptions {
  readonly settings: GatewaySettings
  readonly log: Log
  readonly onConnectionRefused?: ((reason: ConnectionRefusal) => void) | undefined
  /** The memory that this process may use, in bytes; if left out, its memory budget. */
  readonly memoryBytes?: number
}

/** Operators, probes and scrapers are few. */
const MAX_CONTROL_CONNECTIONS = 256

export const createGates = (options: ListenerGatesOptions): ListenerGates => {
  const { settings, log, onConnectionRefused: onRefused = () => undefined } = options
  const { trustedProxies, publicProxyProtocol, headersTimeoutSeconds } = settings
  const { memoryBytes = memoryBudgetOf(countProcesses(settings.processes)) } = options
  const max = settings.maxConnections ?? connectionsFor(memoryBytes)
  const common = {
    headerTimeoutMs: headersTimeoutSeconds * 1000,
    onRefused,
    onBadHeader: createBadHeaderReport(log, () => performance.now()),
  }
  const createControlGate = (): ConnectionGate =>
    createConnectionGate({
      ...common,
      max: Math.min(max, MAX_CONTROL_CONNECTIONS),
      trustedProxies: [],
      proxyProtocol: [],
    })
  return {
    public: createConnectionGate({
      ...common,
      max,
      trustedProxies,
      proxyProtocol: publicProxyProtocol,
    }),
    management: createControlGate(),
    health: createControlGate(),
  }
}
