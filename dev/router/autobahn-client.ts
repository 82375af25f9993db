// Opens a session with autobahn's own client and transport, which share no code with this router. It never reconnects,
// and writes nothing to the console.

export interface AutobahnClient {
  readonly session: AutobahnSession
  /** WELCOME.Details. */
  readonly welcome: Readonly<Record<string, unknown>>
  /** Resolves when the session has ended, whichever side ended it. */
  readonly closed: Promise<Closing>
  readonly close: () => Promise<Closing>
  /** The value that a handler returns for more than one positional result, or named ones. */
  readonly resultOf: (args: readonly unknown[], kwargs: object) => unknown
  /** The value that a handler throws for an ERROR of its own. */
  readonly errorOf: (uri: string, args: readonly unknown[], kwargs: object) => Error
}

export interface AutobahnSession {
  readonly id: number
  readonly isOpen: boolean
  /** Resolves with the one result, or a Result of several; `cancel` sends CANCEL. */
  call(
    procedure: string,
    args?: readonly unknown[],
    kwargs?: object,
    options?: object,
  ): Promise<unknown> & { cancel(options?: object): void }
  /** Returns nothing, unless `acknowledge` is set. */
  publish(topic: string, args?: readonly unknown[], kwargs?: object, options?: object): unknown
  register(procedure: string, handler: Handler, options?: object): Promise<Held>
  unregister(registration: Held): Promise<unknown>
  subscribe(topic: string, handler: Handler, options?: object): Promise<Held>
  unsubscribe(subscription: Held): Promise<unknown>
}

export interface Held {
  readonly id: number
}

export type Handler = (
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
  details: HandlerDetails,
) => unknown

export interface HandlerDetails {
  /** Set for an invocation whose caller receives progressive results. */
  readonly progress?: (args: readonly unknown[], kwargs?: object) => void
  readonly [detail: string]: unknown
}

export interface Closing {
  readonly reason: string | null
  readonly message: string | null
}

/** The part of the library that is used. */
interface Autobahn {
  readonly Connection: new (options: object) => AutobahnConnection
  readonly Result: new (args: readonly unknown[], kwargs: object) => object
  readonly Error: new (uri: string, args: readonly unknown[], kwargs: object) => Error
  readonly log: { debug: () => void; warn: () => void }
}

interface AutobahnConnection {
  onopen: (session: AutobahnSession, welcome: Readonly<Record<string, unknown>>) => void
  onclose: (kind: string, closing: Closing) => boolean
  readonly isOpen: boolean
  open(): void
  close(): void
}

/**
 * Rejects with reason and message of the router when it does not let the client join.
 * @param more options of autobahn's Connection, such as `authmethods`, `onchallenge`, `transports`
 * @example
 * const { session } = await connectAutobahn('ws://127.0.0.1:8080/', 'com.example.realm')
 * await session.call('com.example.math.add', [1, 2])
 */
export const connectAutobahn = async (
  url: string,
  realm: string,
  more: object = {},
): Promise<AutobahnClient> => {
  const autobahn = (await import('autobahn')).default as Autobahn
  autobahn.log.debug = silence
  autobahn.log.warn = silence
  const connection = new autobahn.Connection({
    url,
    realm,
    use_es6_promises: true,
    max_retries: 0,
    on_user_error: silence,
    on_internal_error: silence,
    ...more,
  })
  const closed = Promise.withResolvers<Closing>()
  const opened = Promise.withResolvers<AutobahnClient>()
  connection.onopen = (session, welcome) => {
    opened.resolve({
      session,
      welcome,
      closed: closed.promise,
      close: () => {
        // It throws when the session has ended before.
        if (connection.isOpen) connection.close()
        return closed.promise
      },
      resultOf: (args, kwargs) => new autobahn.Result(args, kwargs),
      errorOf: (uri, args, kwargs) => new autobahn.Error(uri, args, kwargs),
    })
  }
  connection.onclose = (_kind, { reason, message }) => {
    closed.resolve({ reason, message })
    opened.reject(new Error(`${String(reason)}: ${String(message)}`))
    return true
  }
  connection.open()
  return opened.promise
}

const silence = (): void => undefined
