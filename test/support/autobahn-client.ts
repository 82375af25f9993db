// Opens a session of autobahn's own client at a router's address, over autobahn's own transports: what a user of the
// router would run. Nothing of the gateway's bridge is in it.

import type { Value, ValueMap } from '../../language/expression/value.ts'

export interface AutobahnSession {
  readonly id: number
  readonly isOpen: boolean
  call(procedure: string, args?: readonly Value[], kwargs?: ValueMap): Promise<unknown>
  publish(
    topic: string,
    args: readonly Value[],
    kwargs: ValueMap,
    options: { readonly acknowledge: true },
  ): Promise<{ readonly id: number }>
  subscribe(
    topic: string,
    onEvent: (
      args: readonly Value[],
      kwargs: ValueMap,
      details: { readonly topic: string },
    ) => void,
    options?: ValueMap,
  ): Promise<unknown>
  register(
    procedure: string,
    response: (args: readonly Value[], kwargs: ValueMap) => unknown,
    options?: ValueMap,
  ): Promise<unknown>
  unregister(registration: unknown): Promise<unknown>
  leave(): void
}

export interface AutobahnClientOptions {
  /** `ws://…` or `rs://host:port`, which autobahn has with JSON only. */
  readonly url: string
  readonly realm: string
  readonly serializer?: 'JSON' | 'Msgpack' | 'CBOR'
  readonly authmethods?: readonly string[]
  readonly authid?: string
  readonly authextra?: ValueMap
  readonly onchallenge?: (session: unknown, method: string, extra: { challenge: string }) => unknown
}

/** What is used of the module. */
export interface AutobahnModule {
  readonly Connection: new (options: object) => {
    onopen: (session: AutobahnSession) => void
    onclose: (reason: string, details: { readonly reason?: string | null }) => boolean
    open(): void
    close(): void
  }
  readonly Error: new (uri: string, args?: readonly Value[], kwargs?: ValueMap) => Error
  readonly Result: new (args?: readonly Value[], kwargs?: ValueMap) => object
  readonly serializer: Readonly<Record<string, new () => object>>
  readonly log: { debug: () => void; warn: () => void }
  readonly auth_cra: { sign(secret: string, challenge: string): string }
}

/** Loaded at first use; what it writes to the console is off. */
export const loadAutobahn = async (): Promise<AutobahnModule> => {
  const { default: autobahn } = (await import('autobahn')) as unknown as {
    readonly default: AutobahnModule
  }
  Object.assign(autobahn.log, { debug: () => undefined, warn: () => undefined })
  return autobahn
}

/** Rejects with the router's reason. Disposing of it leaves. */
export const openAutobahn = async ({
  url,
  serializer = 'JSON',
  ...options
}: AutobahnClientOptions): Promise<AutobahnSession & AsyncDisposable> => {
  const autobahn = await loadAutobahn()
  const { Connection } = autobahn
  const connection = new Connection({
    transports: [transportOf(autobahn, url, serializer)],
    max_retries: 0,
    use_es6_promises: true,
    on_user_error: () => undefined,
    on_internal_error: () => undefined,
    ...options,
  })
  const closed = Promise.withResolvers<undefined>()
  return await new Promise((resolve, reject) => {
    connection.onopen = (session) => {
      const dispose = async (): Promise<void> => {
        if (session.isOpen) connection.close()
        await closed.promise
      }
      resolve(Object.assign(session, { [Symbol.asyncDispose]: dispose }))
    }
    connection.onclose = (kind, { reason }) => {
      closed.resolve(undefined)
      reject(new Error(reason ?? kind))
      return true
    }
    connection.open()
  })
}

const transportOf = (
  autobahn: AutobahnModule,
  url: string,
  serializer: NonNullable<AutobahnClientOptions['serializer']>,
): object => {
  const { protocol, hostname, port } = new URL(url)
  if (protocol === 'rs:') return { type: 'rawsocket', host: hostname, port: Number(port) }
  const Serializer = autobahn.serializer[`${serializer}Serializer`]
  if (Serializer === undefined) throw new Error(`autobahn has no ${serializer}`)
  return { type: 'websocket', url, serializers: [new Serializer()] }
}
