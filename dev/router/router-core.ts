// Creates a router without its sockets: it gives each client an inlet for its messages and writes to the client's
// outlet.

import { type Inlet, openConnection, type Outlet } from './connection.ts'
import { createRealm } from './realm.ts'
import type { RealmOptions } from './router-options.ts'
import type { RouterDeps } from './router-deps.ts'

export interface RouterCore {
  /** A client has connected. */
  readonly accept: (outlet: Outlet) => Inlet
  /** False: the realm has no such session. */
  readonly kill: (realmUri: string, sessionId: number, reason: string) => boolean
  readonly sessionIds: (realmUri: string) => readonly number[]
  /** Says GOODBYE to every client. */
  readonly shutDown: () => void
}

export const createRouterCore = (
  options: readonly RealmOptions[],
  deps: RouterDeps,
): RouterCore => {
  const realms = new Map(options.map((realm) => [realm.uri, createRealm(realm, deps)]))
  const inlets = new Set<Inlet>()
  return {
    accept(outlet) {
      const inlet = openConnection({
        realms,
        deps,
        outlet,
        onOver: () => {
          inlets.delete(inlet)
        },
      })
      inlets.add(inlet)
      return inlet
    },
    kill(realmUri, sessionId, reason) {
      const session = realms.get(realmUri)?.members.get(sessionId)
      session?.end(reason)
      return session !== undefined
    },
    sessionIds: (realmUri) => [...(realms.get(realmUri)?.members.keys() ?? [])],
    shutDown() {
      for (const inlet of [...inlets]) inlet.end('wamp.close.system_shutdown')
    },
  }
}
