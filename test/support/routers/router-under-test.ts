// Starts a router by name, ours or a real one, behind an interface that is the same for all, so that one suite can test
// each. A real one that this machine cannot have is reported, never left out silently.

import { startRouter as startEmbedded } from '../../../dev/router/router.ts'
import { freePort } from '../free-port.ts'
import { buildRouter } from './build-router.ts'
import type { Availability } from '../availability.ts'
import { routerAvailability } from './recipe.ts'
import { FORBIDDEN_PREFIX, OPEN_REALM, SECURED_REALM } from './router-config.ts'
import { startRouter as startReal, type RealRouter, type RouterOptions } from './start-router.ts'

export const ROUTER_NAMES = ['embedded', 'nexus', 'crossbar'] as const
export type RouterName = (typeof ROUTER_NAMES)[number]

export interface RouterUnderTest extends AsyncDisposable {
  readonly name: RouterName
  readonly ws: string
  readonly rawsocket: string
  stop(how?: { readonly kill?: boolean }): Promise<void>
  /** Where a realm can end while its router goes on. */
  readonly openRealm?: RealRouter['openRealm']
  /** On the same ports; answers when it resolves. */
  restart(): Promise<void>
}

const startUnderTest = (
  name: RouterName,
  options: Pick<RouterOptions, 'config'> = {},
): Promise<RouterUnderTest> =>
  name === 'embedded' ? startEmbeddedUnderTest() : startReal(name, options)

/** The same realms and users as the real ones have. */
const startEmbeddedUnderTest = async (): Promise<RouterUnderTest> => {
  const ports = { webSocketPort: await freePort(), rawSocketPort: await freePort() }
  const deny = [FORBIDDEN_PREFIX]
  const start = () =>
    startEmbedded({
      ...ports,
      realms: [
        { uri: OPEN_REALM, anonymous: true, deny },
        { uri: SECURED_REALM, users: USERS, deny },
      ],
    })
  let router: Awaited<ReturnType<typeof start>> | undefined = await start()
  const stop = async ({ kill = false } = {}): Promise<void> => {
    const running = router
    router = undefined
    await running?.close({ hard: kill })
  }
  return {
    name: 'embedded',
    ws: router.wsUrl,
    rawsocket: router.rawSocketUrl,
    stop,
    restart: async () => {
      await stop()
      router = await start()
    },
    [Symbol.asyncDispose]: () => stop(),
  }
}

/** Ed25519: the seed 01 … 01 of tests; its public key stands below. */
export const CRYPTOSIGN_SEED = '01'.repeat(32)

const USERS = [
  { authid: 'gateway', method: 'ticket', secret: 'gateway-ticket', role: 'gateway' },
  { authid: 'gateway-cra', method: 'wampcra', secret: 'gateway-cra-secret', role: 'gateway' },
  {
    authid: 'gateway-key',
    method: 'cryptosign',
    secret: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
    role: 'gateway',
  },
] as const

/** A real one may have to be built first: on stderr one sees that. */
export const START_MS = 120_000

export interface RouterSuite {
  readonly name: RouterName
  readonly availability: Availability
  /** For `beforeAll`; nothing where the router is not available. */
  readonly start: () => Promise<void>
  /** For `afterAll`. */
  readonly stop: () => Promise<void>
  /** @throws before `start` */
  readonly running: () => RouterUnderTest
}

/** A router for one test file. It is built here, before any test runs, as that takes longer than a test may. */
export const prepareSuite = async (
  name: RouterName,
  options: Pick<RouterOptions, 'config'> = {},
): Promise<RouterSuite> => {
  const availability = await obtain(name)
  let router: RouterUnderTest | undefined
  return {
    name,
    availability,
    start: async () => {
      if (availability.available) router = await startUnderTest(name, options)
    },
    stop: async () => {
      await router?.[Symbol.asyncDispose]()
    },
    running: () => {
      if (router === undefined) throw new Error(`${name} was not started`)
      return router
    },
  }
}

/** Built before any test runs, as a build takes longer than a test may. */
const obtain = async (name: RouterName): Promise<Availability> => {
  if (name === 'embedded') return { available: true }
  const availability = routerAvailability(name)
  if (!availability.available) return availability
  try {
    await buildRouter(name)
    return { available: true }
  } catch (error) {
    return { available: false, why: error instanceof Error ? error.message : 'it was not built' }
  }
}
