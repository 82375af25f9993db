// The address of a router in; a session of autobahn's own, over its own WebSocket, out: a client that nobody
// here wrote. Never reconnects.

import autobahnModule from 'autobahn'

type Handler = (
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
  details: Readonly<Record<string, unknown>>,
) => unknown

export interface ClientSession {
  readonly id: number
  call(
    procedure: string,
    args?: readonly unknown[],
    kwargs?: object,
    options?: object,
  ): Promise<unknown> & { cancel(options?: object): void }
  publish(
    topic: string,
    args?: readonly unknown[],
    kwargs?: object,
    options?: object,
  ): Promise<unknown>
  register(procedure: string, handler: Handler, options?: object): Promise<{ id: number }>
  unregister(registration: object): Promise<unknown>
  subscribe(topic: string, handler: Handler, options?: object): Promise<{ id: number }>
  unsubscribe(subscription: object): Promise<unknown>
}

export interface Client {
  readonly session: ClientSession
  /** WELCOME.Details. */
  readonly welcome: Readonly<Record<string, unknown>>
  /** Reason and message of the end. */
  readonly closed: Promise<Closing>
  close(): Promise<Closing>
}

export interface Closing {
  readonly reason: string | null
  readonly message: string | null
}

interface Autobahn {
  readonly Connection: new (options: object) => {
    onopen: (session: ClientSession, details: Client['welcome']) => void
    onclose: (kind: string, details: Closing) => boolean
    open(): void
    close(): void
  }
  readonly Error: new (uri: string, args?: readonly unknown[], kwargs?: object) => Error
  readonly Result: new (args?: readonly unknown[], kwargs?: object) => object
  readonly auth_cra: { sign(key: string, challenge: string): string }
  readonly log: { debug: () => void; warn: () => void }
}

export const autobahn = autobahnModule as Autobahn

/**
 * Rejects with the closing when the router does not let it join.
 * @param more options of autobahn's Connection
 */
export const connect = (url: string, realm: string, more: object = {}): Promise<Client> => {
  autobahn.log.debug = autobahn.log.warn = () => undefined
  const connection = new autobahn.Connection({
    ...{ url, realm, use_es6_promises: true, max_retries: 0 },
    on_user_error: () => undefined,
    on_internal_error: () => undefined,
    ...more,
  })
  const closed = Promise.withResolvers<Closing>()
  const opened = Promise.withResolvers<Client>()
  connection.onopen = (session, welcome) => {
    const close = (): Promise<Closing> => {
      connection.close()
      return closed.promise
    }
    opened.resolve({ session, welcome, closed: closed.promise, close })
  }
  connection.onclose = (_kind, { reason, message }) => {
    closed.resolve({ reason, message })
    opened.reject(new Error(`${String(reason)}: ${String(message)}`))
    return true
  }
  connection.open()
  return opened.promise
}
