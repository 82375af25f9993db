// Starts a real router by name, which answers on loopback, WebSocket and RawSocket, with the realms that tests need. It
// ends with the process that started it.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { eventually } from '../eventually.ts'
import { freePort } from '../free-port.ts'
import type { Certificate } from '../certificates.ts'
import { makeTempDir } from '../temp-dir.ts'
import { buildRouter } from './build-router.ts'
import { rawSocketAnswers, webSocketAnswers } from './listener-answers.ts'
import type { RealRouterName } from './recipe.ts'
import { startChild, type RouterChild } from './router-child.ts'
import {
  OPEN_REALM,
  routerCommand,
  type RouterPorts,
  SECURED_REALM,
  type SecureListeners,
  WEBSOCKET_PATH,
} from './router-config.ts'

export interface RouterOptions {
  /** More realms that anyone may join. */
  readonly realms?: readonly string[]
  /** Laid over the top level of the router's configuration. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Free ones otherwise. */
  readonly ports?: RouterPorts
  /** Also listens with TLS, and on a unix socket. */
  readonly certificate?: Certificate
}

export interface RealRouter extends AsyncDisposable {
  readonly name: RealRouterName
  /** `ws://127.0.0.1:…/ws` */
  readonly ws: string
  /** `rs://127.0.0.1:…` */
  readonly rawsocket: string
  readonly ports: RouterPorts
  readonly realms: readonly string[]
  /** For a test that asked for a certificate: `wss://…/ws`, `rss://…`, `unix:/…`. */
  readonly secure?: { readonly wss: string; readonly rss: string; readonly unix: string }
  /** Crossbar's own; on the realm com.example.realm. */
  readonly httpBridge?: { readonly call: string; readonly publish: string }
  /** Another one after `restart`. */
  readonly pid: number
  /** SIGTERM, or kill -9 of all its processes. Idempotent. */
  stop(how?: { readonly kill?: boolean }): Promise<void>
  /** Starts what was stopped, on the same ports; answers when it resolves. */
  restart(): Promise<void>
  /** nexus alone: ends the realm that anyone may join, with GOODBYE to all in it, and opens it again. */
  readonly openRealm?: { close(): void; reopen(): void }
  /** SIGSTOP: connections stay, nothing moves. */
  freeze(): void
  thaw(): void
}

const START_MS = 60_000
const STOP_MS = 10_000

/**
 * Builds the router unless it is built. Throws with the end of its log unless it answers within a minute.
 *
 * @example
 * await using router = await startRouter('nexus', { realms: ['com.acme'] })
 */
export const startRouter = async (
  name: RealRouterName,
  { realms = [], config = {}, ports: wanted, certificate }: RouterOptions = {},
): Promise<RealRouter> => {
  const program = await buildRouter(name)
  const ports = wanted ?? { ws: await freePort(), rawsocket: await freePort() }
  const directory = await makeTempDir()
  const secure = certificate && (await prepareSecure(directory.path, certificate))
  const command = routerCommand(name, { ports, secure, realms, overrides: config })
  const configPath = join(directory.path, command.configPath)
  await mkdir(dirname(configPath), { recursive: true })
  await writeFile(configPath, JSON.stringify(command.config, null, 2))
  const logPath = join(directory.path, 'router.log')
  const start = async (): Promise<RouterChild> => {
    const { args } = command
    const child = startChild({ command: program, args, cwd: directory.path, logPath })
    try {
      await untilAnswering(child, ports)
    } catch (cause) {
      child.signalAll('SIGKILL')
      const log = await readFile(logPath, 'utf8')
      throw new Error(`${name} did not start:\n${log.slice(-2000)}`, { cause })
    }
    return child
  }
  let child = await start()
  return {
    name,
    ports,
    ws: `ws://127.0.0.1:${ports.ws}${WEBSOCKET_PATH}`,
    rawsocket: `rs://127.0.0.1:${ports.rawsocket}`,
    realms: [OPEN_REALM, SECURED_REALM, ...realms],
    ...(secure && { secure: secureUrls(secure) }),
    ...(name === 'nexus' && { openRealm: signalled(() => child.pid) }),
    ...(name === 'crossbar' && { httpBridge: httpBridgeAt(ports.ws) }),
    get pid() {
      return child.pid
    },
    stop: ({ kill = false } = {}) => end(child, kill),
    restart: async () => {
      await end(child, false)
      child = await start()
    },
    freeze: () => {
      child.signalAll('SIGSTOP')
    },
    thaw: () => {
      child.signalAll('SIGCONT')
    },
    [Symbol.asyncDispose]: async () => {
      await end(child, true)
      await directory[Symbol.asyncDispose]()
    },
  }
}

/** As the program that runs nexus has them. */
const signalled = (pid: () => number): RealRouter['openRealm'] & object => ({
  close: () => {
    process.kill(pid(), 'SIGUSR1')
  },
  reopen: () => {
    process.kill(pid(), 'SIGUSR2')
  },
})

/** Its directory is short enough for the path of a socket. */
const prepareSecure = async (
  directory: string,
  { cert, key }: Certificate,
): Promise<SecureListeners> => {
  const certificatePath = join(directory, 'server.crt')
  const keyPath = join(directory, 'server.key')
  await writeFile(certificatePath, cert)
  await writeFile(keyPath, key)
  const ports = { ws: await freePort(), rawsocket: await freePort() }
  return { ...ports, certificatePath, keyPath, unixPath: join(directory, 'router.sock') }
}

const secureUrls = ({
  ws,
  rawsocket,
  unixPath,
}: SecureListeners): RealRouter['secure'] & object => ({
  wss: `wss://127.0.0.1:${ws}${WEBSOCKET_PATH}`,
  rss: `rss://127.0.0.1:${rawsocket}`,
  unix: `unix:${unixPath}`,
})

const httpBridgeAt = (port: number): { readonly call: string; readonly publish: string } => ({
  call: `http://127.0.0.1:${port}/call`,
  publish: `http://127.0.0.1:${port}/publish`,
})

const untilAnswering = (child: RouterChild, ports: RouterPorts): Promise<void> =>
  eventually(
    async () => {
      if (child.hasEnded) return
      if (!(await rawSocketAnswers(ports.rawsocket)) || !(await webSocketAnswers(ports.ws)))
        throw new Error('it does not answer on both listeners')
    },
    { withinMs: START_MS },
  ).then(() => {
    if (child.hasEnded) throw new Error('it ended')
  })

const end = async (child: RouterChild, kill: boolean): Promise<void> => {
  if (child.hasEnded) return
  if (kill) child.signalAll('SIGKILL')
  else {
    // A frozen one must first be able to hear it.
    child.signalAll('SIGCONT')
    child.terminate()
  }
  const timer = setTimeout(() => {
    child.signalAll('SIGKILL')
  }, STOP_MS)
  await child.ended
  clearTimeout(timer)
}
