// A realm's uri in, the client that the actions use out: always there, whatever becomes of the realm. It
// holds nothing itself.

import type { RealmBridge } from './realm-bridge.ts'
import type { HeldKind, WampClient } from './wamp-client.ts'

/** @param find the realm as of now; one without a record where there is none */
export const createClient = (
  find: () => RealmBridge,
  release: (kind: HeldKind, id: number) => Promise<boolean>,
): WampClient => ({
  get callTimeoutUnit() {
    return find().record?.router?.call_timeout_unit
  },
  call: (request, handler) => find().session().call(request, handler),
  publish: async (topic, payload, options) => find().session().publish(topic, payload, options),
  follow: (topic, options, follower) => find().topics.follow(topic, options, follower),
  register: (registration) => find().held.register(registration),
  subscribe: (subscription) => find().held.subscribe(subscription),
  release,
})
