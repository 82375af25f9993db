// Opens the listeners that the settings ask for: public, public TLS, management and health, with TLS files that are
// read again when they change. It decides nothing about a request.

import type { Server as TlsServer } from 'node:https'
import type { Log } from '../../telemetry/log.ts'
import type { Address } from '../../telemetry/settings-table.ts'
import type { GatewaySettings } from '../config.ts'
import type { ConnectionRefusal } from '../connections/connection-gate.ts'
import { createGates, type ListenerGates } from '../connections/listener-gates.ts'
import {
  createPlainServer,
  createSecureServer,
  type ServerHandlers,
  type ServerLimits,
} from './http-server.ts'
import { type Doorbell, openDoorbell } from './doorbell.ts'
import { openListener, type Listener } from './listener.ts'
import { openPublicTls, type PublicTlsWatch } from './tls/public-tls.ts'
import { openWhenFilesAppear } from './tls/certificate-files.ts'
import type { FileWatch } from '../watched-files.ts'

export type ListenerName = 'public' | 'publicTls' | 'management' | 'health'

export interface ListenersOptions {
  readonly settings: GatewaySettings
  /** Creates the handlers of a public listener; called once per listener, so that they know their scheme. */
  readonly publicHandlers?: (scheme: 'http' | 'https') => ServerHandlers
  readonly managementHandlers?: ServerHandlers
  readonly healthHandlers?: ServerHandlers
  /** Opened already; closed with the others. */
  readonly health?: Listener
  /** Called when a client has connected to the management listener while it waits for its certificate. */
  readonly onManagementAwaited?: () => void
  readonly log: Log
  /** Called for each connection that is closed without a response. */
  readonly onConnectionRefused?: ((reason: ConnectionRefusal) => void) | undefined
  /**
   * The memory that this process may use, which decides how many connections it accepts; if left out, its memory
   * budget.
   */
  readonly memoryBytes?: number
  /** A worker of a cluster, whose primary has removed stale socket files. */
  readonly isWorker?: boolean
  /** How often TLS files are read; if left out, 2000. */
  readonly fileCheckMs?: number
}

/** Several listeners as one, without those that are not configured or have no handlers. */
export interface Listeners {
  /** `{public: 'http://127.0.0.1:18080', …}` with real ports. */
  urls(): Readonly<Partial<Record<ListenerName, string>>>
  addresses(): Readonly<Partial<Record<ListenerName, Address>>>
  connections(): Promise<Readonly<Partial<Record<ListenerName, number>>>>
  /** Folder in `--tls-dir`, or `--tls-cert` → expiry of the public certificate that is served, Unix time in ms. */
  certificateEndsMs(): ReadonlyMap<string, number>
  beginDraining(): void
  closeIdle(): void
  close(): Promise<void>
  abort(): void
}

/**
 * Opens every listener that has handlers. A management listener with TLS whose files are not there yet opens when
 * they appear, a public one with --tls-dir when the first certificate appears; all others must open now.
 * @throws StartError with the line to print; what was opened before is closed again
 */
export const openListeners = async (options: ListenersOptions): Promise<Listeners> => {
  const open = new Map<ListenerName, Listener>()
  const watches: Watch[] = []
  const listeners = gather(open, watches)
  const to: Opened = { open, watches, gates: createGates(options) }
  if (options.health !== undefined) open.set('health', options.health)
  try {
    if (options.publicHandlers !== undefined) {
      open.set('public', await openPublic(options, options.publicHandlers('http'), to))
      await openTls(options, options.publicHandlers('https'), to)
    }
    if (options.managementHandlers !== undefined) {
      await openManagement(options, options.managementHandlers, to)
    }
    const health = options.settings.health
    if (options.healthHandlers !== undefined && health !== null) {
      const server = createPlainServer(limitsOf(options, to, 'health'), options.healthHandlers)
      open.set('health', await openListener(server, 'http', bindOptions('health', health, options)))
    }
  } catch (error) {
    listeners.abort()
    await listeners.close()
    throw error
  }
  return listeners
}

const bindOptions = (
  setting: string,
  address: Address,
  options: ListenersOptions,
): Parameters<typeof openListener>[2] => ({
  setting,
  address,
  socketMode: setting === 'management' ? 0o600 : 0o660,
  keepSocketFile: options.isWorker ?? false,
})

const limitsOf = (
  { settings }: ListenersOptions,
  { gates }: Opened,
  gate: keyof ListenerGates,
): ServerLimits => ({ ...settings, gate: gates[gate] })

const openPublic = (
  options: ListenersOptions,
  handlers: ServerHandlers,
  to: Opened,
): Promise<Listener> =>
  openListener(
    createPlainServer(limitsOf(options, to, 'public'), handlers),
    'http',
    bindOptions('public', options.settings.public, options),
  )

const openTls = async (
  options: ListenersOptions,
  handlers: ServerHandlers,
  to: Opened,
): Promise<void> => {
  const { open, watches } = to
  const { settings, log, fileCheckMs: intervalMs } = options
  const { publicTls: address } = settings
  if (address === null) return
  const listen = async (server: TlsServer): Promise<string> => {
    const where = bindOptions('public-tls', address, options)
    const listener = await openListener(server, 'https', where)
    open.set('publicTls', listener)
    return listener.url
  }
  const limits = limitsOf(options, to, 'public')
  watches.push(...(await openPublicTls({ settings, limits, handlers, log, intervalMs, listen })))
}

type Watch = (FileWatch | Doorbell) & Partial<PublicTlsWatch>

interface Opened {
  readonly open: Map<ListenerName, Listener>
  readonly watches: Watch[]
  readonly gates: ListenerGates
}

const openManagement = async (
  options: ListenersOptions,
  handlers: ServerHandlers,
  to: Opened,
): Promise<void> => {
  const { open, watches } = to
  const { settings, log } = options
  const limits = limitsOf(options, to, 'management')
  const {
    management,
    managementTlsCert: cert,
    managementTlsKey: key,
    managementClientCa: ca,
  } = settings
  const where = bindOptions('management', management, options)
  if (cert === null || key === null) {
    open.set('management', await openListener(createPlainServer(limits, handlers), 'http', where))
    return
  }
  const files = ca === null ? { cert, key } : { cert, key, ca }
  // With a token as the alternative, the handler decides whether the client certificate is valid.
  const demands = {
    requestCert: ca !== null,
    rejectUnauthorized: settings.managementTokenFile === null,
  }
  const doorbell: { opening?: Promise<Doorbell> } = {}
  const opening = openWhenFilesAppear({
    files,
    log,
    create: (contents) => createSecureServer(limits, handlers, { ...demands, ...contents }),
    listen: async (server) => {
      await (await doorbell.opening)?.close()
      open.set('management', await openListener(server, 'https', where))
    },
    ...(options.fileCheckMs === undefined ? {} : { intervalMs: options.fileCheckMs }),
  })
  watches.push(opening)
  await opening.first
  if (open.has('management') || options.onManagementAwaited === undefined) return
  // The files may appear from now on: opening the listener for them waits for the address.
  doorbell.opening = openDoorbell(where, options.onManagementAwaited)
  watches.push(await doorbell.opening)
}

const gather = (
  open: ReadonlyMap<ListenerName, Listener>,
  watches: readonly Watch[],
): Listeners => ({
  urls: () => mapValues(open, (listener) => listener.url),
  addresses: () => mapValues(open, (listener) => listener.address),
  connections: async () => {
    const counts = Array.from(
      open,
      async ([name, listener]) => [name, await listener.connections()] as const,
    )
    return Object.fromEntries(await Promise.all(counts))
  },
  certificateEndsMs: () => new Map(watches.flatMap(({ endsMs }) => [...(endsMs?.() ?? [])])),
  beginDraining: () => {
    for (const listener of open.values()) listener.beginDraining()
  },
  closeIdle: () => {
    for (const listener of open.values()) listener.closeIdle()
  },
  close: async () => {
    for (const watch of watches) void watch.close()
    await Promise.all(Array.from(open.values(), (listener) => listener.close()))
  },
  abort: () => {
    for (const listener of open.values()) listener.abort()
  },
})

const mapValues = <V>(
  open: ReadonlyMap<ListenerName, Listener>,
  read: (listener: Listener) => V,
): Partial<Record<ListenerName, V>> =>
  Object.fromEntries(Array.from(open, ([name, listener]) => [name, read(listener)]))
