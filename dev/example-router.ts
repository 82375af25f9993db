// Starts a WAMP router on loopback with the realm of the examples, together with the procedures that they call. Both
// end together.

import { type Procedures, startProcedures } from './procedures.ts'
import { type Router, startRouter } from './router/router.ts'

export interface ExampleRouter {
  /** `ws://127.0.0.1:PORT/` */
  readonly url: string
  readonly close: () => Promise<void>
}

/** The realm of `examples/realm.yaml`. */
const EXAMPLE_REALM = 'com.example'

/**
 * @param port of its WebSockets, 0 for any free one
 * @throws the error of `listen`, such as EADDRINUSE
 */
export const startExampleRouter = async (port: number): Promise<ExampleRouter> => {
  const realms = [{ uri: EXAMPLE_REALM, anonymous: true }]
  const router: Router = await startRouter({ realms, webSocketPort: port })
  const procedures: Procedures = await startProcedures(router.wsUrl, EXAMPLE_REALM).catch(
    async (error: unknown) => {
      await router.close()
      throw error
    },
  )
  return {
    url: router.wsUrl,
    close: async () => {
      await procedures.close()
      await router.close()
    },
  }
}
