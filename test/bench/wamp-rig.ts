// A real router and a callee on the load's core, and what is measured against them: each a process of its
// own, joined to the router and ready when it is handed out.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildRouter } from '../support/routers/build-router.ts'
import { type RealRouterName, recipeDirectory, canBuildRouter } from '../support/routers/recipe.ts'
import { OPEN_REALM } from '../support/routers/router-config.ts'
import { type RealRouter, startRouter } from '../support/routers/start-router.ts'
import type { RouterRecord } from '../../language/realm/record.ts'
import type { Machine } from './machine.ts'
import { loadUnmanaged, type Gateway, type GatewayOptions, startGateway } from './gateway.ts'
import { node } from './peer-commands.ts'
import { type Server, type StartServer, withServers } from './server-process.ts'
import { wampDocument } from './wamp-documents.ts'

/** Why this machine has no such router; builds it where it can and must, which may take a minute. */
export const lacksRouter = async (name: RealRouterName): Promise<string | undefined> => {
  const availability = canBuildRouter(name)
  if (!availability.available) return availability.why
  try {
    await buildRouter(name)
    return undefined
  } catch (error) {
    return `${name} could not be built (${error instanceof Error ? error.message : ''})`
  }
}

/** Of the recipe that it is built by. */
export const routerVersion = (name: RealRouterName): string => {
  const { file, pattern } = VERSIONS[name]
  const recipe = readFileSync(join(recipeDirectory(name), file), 'utf8')
  return `${name} ${pattern.exec(recipe)?.[1] ?? ''}`
}

const VERSIONS = {
  nexus: { file: 'go.mod', pattern: /nexus\/v3 v([\d.]+)/ },
  crossbar: { file: 'requirements.txt', pattern: /^crossbar==([\d.]+)/m },
} as const satisfies Record<RealRouterName, object>

export interface WampRig {
  readonly router: RealRouter
  readonly startGateway: (record: RouterRecord, options?: GatewayOptions) => Promise<Gateway>
  /** One of `servers/`; on the server's core unless said otherwise. Its arguments follow the port. */
  readonly startProgram: (file: string, options: ProgramOptions) => Promise<Server>
}

export interface ProgramOptions {
  /** Of the router. */
  readonly url: string
  /** Before the router's address. */
  readonly args?: readonly string[]
  readonly isLoad?: boolean
}

/** By default nexus drops what goes beyond 64 messages for one client, and such calls are never answered. */
const CONFIG = {
  nexus: { out_queue_size: 20_000 },
  crossbar: {},
} as const satisfies Record<RealRouterName, object>

/** All of it is ended when `use` returns or throws. */
export const withRouter = async <T>(
  machine: Machine,
  name: RealRouterName,
  use: (rig: WampRig) => Promise<T>,
): Promise<T> => {
  // Where this process runs, which is the load's core.
  await using router = await startRouter(name, { config: CONFIG[name] })
  return await withServers(machine, async (start) => {
    const startProgram: WampRig['startProgram'] = (file, { url, args = [], isLoad = false }) =>
      start({
        core: isLoad ? 'load' : 'server',
        command: (port) => node(file, port, ...args, url, OPEN_REALM),
      })
    await startProgram('callee.ts', { url: router.rawsocket, isLoad: true })
    return await use({
      router,
      startProgram,
      startGateway: (record, options) => startJoined(start, record, options),
    })
  })
}

const startJoined = async (
  start: StartServer,
  router: RouterRecord,
  options: GatewayOptions = {},
): Promise<Gateway> => {
  const gateway = await startGateway(start, options)
  await loadUnmanaged(gateway, [wampDocument(OPEN_REALM)], { uri: OPEN_REALM, router })
  await untilServing(`${gateway.url}/v1/items/7`)
  return gateway
}

const ATTEMPTS = 100
const ATTEMPT_MS = 50

const untilServing = async (url: string): Promise<void> => {
  let text = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const response = await fetch(url)
    text = await response.text()
    if (response.ok) return
    await sleep(ATTEMPT_MS)
  }
  throw new Error(`${url} does not reach its procedure: ${text}`)
}
