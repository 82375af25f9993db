// Makes the configuration of a router for ports and realms, and the command that reads it. Starts nothing.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RealRouterName, recipeDirectory } from './recipe.ts'

export interface RouterPorts {
  readonly ws: number
  readonly rawsocket: number
}

/** Listeners beside the plain ones: ports with TLS, and a RawSocket by path. */
export interface SecureListeners extends RouterPorts {
  readonly unixPath: string
  readonly certificatePath: string
  readonly keyPath: string
}

export interface ConfigOptions {
  readonly ports: RouterPorts
  readonly secure: SecureListeners | undefined
  /** Realms beside the two that are always there; anyone may join them. */
  readonly realms: readonly string[]
  /** Laid over the top level of the configuration, e.g. `{out_queue_size: 20000}` for nexus. */
  readonly overrides: Readonly<Record<string, unknown>>
}

export interface RouterCommand {
  /** Below the router's own directory. */
  readonly configPath: string
  readonly config: unknown
  readonly args: readonly string[]
}

/** Anyone may join. */
export const OPEN_REALM = 'com.example.realm'
/**
 * Ticket `gateway` / `gateway-ticket`, wampcra `gateway-cra` / `gateway-cra-secret`, cryptosign `gateway-key` with
 * the public key of the seed 01 … 01; with a salt, which the embedded one lacks, `gateway-salted` /
 * `gateway-salted-secret`.
 */
export const SECURED_REALM = 'com.example.secured'
/** Every URI below it answers `wamp.error.not_authorized`. */
export const FORBIDDEN_PREFIX = 'com.example.forbidden.'

/** Where both routers take WebSocket connections. */
export const WEBSOCKET_PATH = '/ws'

export const routerCommand = (name: RealRouterName, options: ConfigOptions): RouterCommand =>
  COMMANDS[name](options)

const nexusCommand = ({ ports, secure, realms, overrides }: ConfigOptions): RouterCommand => {
  const base = readBase('nexus', 'nexus.json') as NexusConfig
  const config: NexusConfig = {
    ...base,
    ...overrides,
    websocket: `127.0.0.1:${ports.ws}`,
    rawsocket: `127.0.0.1:${ports.rawsocket}`,
    ...(secure !== undefined && nexusSecure(secure)),
    realms: [...base.realms, ...realms.map((uri) => ({ uri, anonymous: true }))],
  }
  return { configPath: 'nexus.json', config, args: ['-c', 'nexus.json'] }
}

const nexusSecure = (secure: SecureListeners): object => ({
  unix: secure.unixPath,
  tls: {
    websocket: `127.0.0.1:${secure.ws}`,
    rawsocket: `127.0.0.1:${secure.rawsocket}`,
    certificate: secure.certificatePath,
    key: secure.keyPath,
  },
})

interface NexusConfig {
  readonly websocket: string
  readonly rawsocket: string
  readonly realms: readonly { readonly uri: string; readonly anonymous: boolean }[]
}

const crossbarCommand = ({ ports, secure, realms, overrides }: ConfigOptions): RouterCommand => {
  const base = readBase('crossbar', 'config.json') as CrossbarConfig
  const workers = base.workers.map((worker) => ({
    ...worker,
    realms: [
      ...worker.realms,
      ...realms.map((name) => ({ name, roles: worker.realms[0]?.roles ?? [] })),
    ],
    transports: worker.transports.flatMap((transport) => [
      ...(secure === undefined ? [] : crossbarSecure(transport, secure)),
      withPort(transport, ports),
    ]),
  }))
  return {
    configPath: '.crossbar/config.json',
    config: { ...base, ...overrides, workers },
    args: ['start', '--cbdir', '.crossbar', '--color', 'false', '--loglevel', 'warn'],
  }
}

const withPort = (transport: CrossbarTransport, ports: RouterPorts): CrossbarTransport => ({
  ...transport,
  endpoint: {
    ...transport.endpoint,
    port: transport.type === 'rawsocket' ? ports.rawsocket : ports.ws,
  },
})

/** The same again with TLS, the RawSocket by path too. */
const crossbarSecure = (
  transport: CrossbarTransport,
  secure: SecureListeners,
): readonly CrossbarTransport[] => {
  const { endpoint, ...withTls } = withPort(transport, secure)
  const tls = { key: secure.keyPath, certificate: secure.certificatePath }
  return [
    { ...withTls, endpoint: { ...endpoint, tls } },
    ...(transport.type === 'rawsocket'
      ? [{ ...transport, endpoint: { type: 'unix', path: secure.unixPath } }]
      : []),
  ]
}

interface CrossbarTransport {
  readonly type: string
  readonly endpoint: object
}

interface CrossbarConfig {
  readonly workers: readonly {
    readonly realms: readonly { readonly name: string; readonly roles: unknown }[]
    readonly transports: readonly CrossbarTransport[]
  }[]
}

const COMMANDS = {
  nexus: nexusCommand,
  crossbar: crossbarCommand,
} satisfies Record<RealRouterName, (options: ConfigOptions) => RouterCommand>

const readBase = (name: RealRouterName, file: string): unknown =>
  JSON.parse(readFileSync(join(recipeDirectory(name), file), 'utf8'))
