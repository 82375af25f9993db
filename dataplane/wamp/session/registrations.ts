// Keeps the registrations of a session, and runs the handler of a procedure for each INVOCATION. It does not know how
// the handler's result is sent.

import { once } from '../../../base/once.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { RequestDeps } from './calls.ts'
import type { Invocations } from './invocations.ts'
import { payloadAt } from './payload.ts'
import type { Requests } from './requests.ts'
import { createRevocation } from './revocation.ts'
import type { InvocationHandler, SessionHold } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface Registrations {
  register(procedure: string, options: ValueMap, handler: InvocationHandler): Promise<SessionHold>
  onInvocation(message: WampMessage): void
  /** UNREGISTERED without a request of ours. One for a registration that we have just ended is ignored. */
  onRevoked(registrationId: number, message: WampMessage): void
  end(): void
}

interface Registered {
  readonly procedure: string
  readonly handler: InvocationHandler
  readonly onRevoked: () => void
}

export const createRegistrations = (
  { peer }: Pick<RequestDeps, 'peer'>,
  requests: Requests,
  invocations: Invocations,
): Registrations => {
  const registrations = new Map<number, Registered>()

  /** Invocations are served until the router has responded. */
  const release = async (id: number, registration: unknown): Promise<void> => {
    if (!registrations.has(id)) return
    try {
      await requests.send(
        MESSAGE.unregister,
        () => peer.session.unregister(registration),
        () => registrations.delete(id),
      )
    } catch (error) {
      // Also if the router rejects it: the caller has released it.
      registrations.delete(id)
      throw error
    }
  }

  return {
    register: (procedure, options, handler) =>
      requests.send(
        MESSAGE.register,
        () => peer.session.register(procedure, nothing, options),
        (message, registration) => {
          const id = message[2] as number
          const { revoked, onRevoked } = createRevocation()
          registrations.set(id, { procedure, handler, onRevoked })
          return {
            id,
            revoked,
            release: once(() => release(id, registration)),
          }
        },
      ),

    onInvocation: (message) => {
      const [, requestId, id, invocationDetails] = message as readonly [
        number,
        number,
        number,
        ValueMap,
      ]
      const registered = registrations.get(id)
      if (registered === undefined) {
        // Unregistered a moment ago: the caller must not wait for ever.
        invocations.reject(requestId, 'wamp.error.no_such_procedure', 'no longer registered')
        return
      }
      const { procedure, handler } = registered
      const details =
        typeof invocationDetails['procedure'] === 'string'
          ? invocationDetails
          : { ...invocationDetails, procedure }
      invocations.run(requestId, handler, { ...payloadAt(message, 4), details })
    },

    onRevoked: (id, message) => {
      const revoked = registrations.get(id)
      if (revoked === undefined) return
      registrations.delete(id)
      peer.receive(message)
      revoked.onRevoked()
    },

    end: () => {
      registrations.clear()
    },
  }
}

const nothing = (): void => undefined
