// What the endpoints of the gateway's own are made of in, a handler for dispatch out. The shell, and the rooms
// behind it, are loaded at the first request of them, or as soon as something is served that has them.

import type { EndpointHandler, EndpointVisit } from '../arrival.ts'
import { refuseVisit } from './endpoint-answer.ts'
import type { EndpointDeps } from './endpoint-deps.ts'

export interface Endpoints {
  readonly handle: EndpointHandler
  /** Loads all of it now, lest the first login wait for it. Never rejects. */
  readonly warmUp: () => Promise<void>
}

/**
 * @example
 * const { handle } = createEndpoints({ loadOidc: async () => (await import('../../oidc/create-oidc.ts')).createOidc(deps), … })
 * createDispatch({ …, endpoints: handle }, 'http')
 */
export const createEndpoints = (deps: EndpointDeps): Endpoints => {
  const loadOidc = once(deps.loadOidc)
  const loadOAuth2 = once(deps.loadOAuth2)
  const loadShell = once(async () => {
    const { createEndpointApp } = await import('./app.ts')
    return createEndpointApp({ ...deps, loadOidc, loadOAuth2 })
  })
  let shell: EndpointHandler | undefined
  const load = async (): Promise<EndpointHandler> => (shell = await loadShell())
  return {
    handle: (visit) => {
      if (shell === undefined) handleLater(load, visit)
      else shell(visit)
    },
    warmUp: async () => {
      await Promise.allSettled([load(), loadOidc(), loadOAuth2()])
    },
  }
}

const handleLater = (load: () => Promise<EndpointHandler>, visit: EndpointVisit): void => {
  load().then(
    (shell) => {
      shell(visit)
    },
    (error: unknown) => {
      refuseVisit(visit, error)
    },
  )
}

/** One at a time; a failure is forgotten. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
