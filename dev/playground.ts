// Starts a backend, a router, an identity provider, a gateway and its operator, all on loopback. They start and end
// together; their output goes to one listener.

import { messageOf } from '../base/thrown.ts'
import { type Backend, startBackend } from './backend.ts'
import { type ExampleDirectory, placeExamples } from './example-directory.ts'
import { startExampleIdp } from './example-idp.ts'
import { type ExampleRouter, startExampleRouter } from './example-router.ts'
import type { StatusServer } from '../operator/status/status-server.ts'
import type { Idp } from './idp/idp.ts'
import type { Ports } from './ports.ts'
import { lastWords, settled, startGateway, startOperator } from '../cli/serve/planes.ts'
import type { Program } from '../cli/serve/program.ts'
import { haveJoined } from './realm-view.ts'
import { readStatus, type StatusView } from '../cli/serve/status-view.ts'
import { startWebPage } from './web-page.ts'

export interface PlaygroundOptions {
  readonly ports: Ports
  readonly examples: string
  /** Lines of the gateway and the operator, from the start on. */
  readonly onLine: (program: string, line: string) => void
}

export interface Playground extends AsyncDisposable {
  readonly urls: {
    readonly public: string
    readonly management: string
    readonly status: string
    readonly backend: string
    readonly router: string
    readonly idp: string
    /** In a browser: documents, routes, gateways, failures, and links to the examples. */
    readonly page: string
  }
  readonly manifests: ExampleDirectory
  readonly status: () => Promise<StatusView | undefined>
  /** Which program ended by itself, and its last lines. */
  readonly failed: Promise<string>
  readonly stop: () => Promise<void>
}

/** The name under which the operator owns the gateway; other documents may be loaded through its management API. */
const MANAGER = 'playground'
const JOIN_MS = 5000
const POLL_MS = 50

/**
 * Resolves when the operator has sent the manifests to the gateway, and the gateway's realms have joined their routers
 * or failed to.
 * @throws Error in words for a person, with everything stopped
 */
export const startPlayground = async (options: PlaygroundOptions): Promise<Playground> => {
  const parts: Parts = { programs: [] }
  const stopping = new AbortController()
  const stop = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(parts.programs.map((program) => program.stop()))
    const { backend, router, idp, page } = parts
    await Promise.all([backend?.close(), router?.close(), idp?.close(), page?.close()])
    await parts.manifests?.remove()
  }
  try {
    const backend = await listen('backend', () => startBackend(options.ports.backend))
    parts.backend = backend
    const router = await listen('router', () => startExampleRouter(options.ports.router))
    parts.router = router
    const gateway = startGateway(gatewayFlags(options.ports), options.onLine)
    parts.programs.push(gateway.program)
    const { public: publicUrl, management } = await gateway.listening
    const idp = await listen('identity provider', () =>
      startExampleIdp(options.ports.idp, publicUrl),
    )
    parts.idp = idp
    const manifests = await placeExamples(options.examples, {
      public: portOf(publicUrl),
      backend: portOf(backend.origin),
      router: portOf(router.url),
      idp: portOf(idp.issuer),
    })
    parts.manifests = manifests
    const places = { manifests: manifests.path, management }
    const operator = startOperator(operatorFlags(options.ports, places), options.onLine)
    parts.programs.push(operator.program)
    const status = await operator.listening
    const page = await listen('web page', () =>
      startWebPage({ port: options.ports.page, status, manifests: manifests.path }),
    )
    parts.page = page
    await settled(status, operator.program, stopping.signal)
    await joined(management, stopping.signal)
    const urls = { public: publicUrl, management, status, backend: backend.origin }
    return {
      urls: { ...urls, router: router.url, idp: idp.issuer, page: page.url },
      manifests,
      status: () => readStatus(status),
      failed: Promise.race(parts.programs.map(lastWords)),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Parts {
  backend?: Backend
  router?: ExampleRouter
  idp?: Idp
  page?: StatusServer
  manifests?: ExampleDirectory
  readonly programs: Program[]
}

const listen = async <T>(what: string, start: () => Promise<T>): Promise<T> => {
  try {
    return await start()
  } catch (error) {
    const words = messageOf(error)
    throw new Error(`the example ${what} can't listen: ${words}`, { cause: error })
  }
}

const gatewayFlags = (ports: Ports): readonly string[] => [
  '--public',
  `127.0.0.1:${ports.public}`,
  '--management',
  `127.0.0.1:${ports.management}`,
  '--managed',
  MANAGER,
  '--allow-unmanaged',
  '--access-log',
  'on',
]

const operatorFlags = (
  ports: Ports,
  places: { readonly manifests: string; readonly management: string },
): readonly string[] => [
  '--manifests',
  places.manifests,
  '--data-planes',
  places.management,
  '--manager',
  MANAGER,
  '--status',
  `127.0.0.1:${ports.status}`,
]

const portOf = (url: string): number => Number(new URL(url).port)

/** A router that is away does not stop the playground: documents without WAMP work. */
const joined = async (management: string, stopping: AbortSignal): Promise<void> => {
  const deadlineMs = performance.now() + JOIN_MS
  while (!stopping.aborted && performance.now() < deadlineMs) {
    if (await haveJoined(management)) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
