// Loads the transports of routers when the first of them is opened, so that a gateway without a router does not pay for
// them (measured: 20 MB).

import type { OpenTransport, Transport, TransportHandlers } from '../protocol/transport.ts'
import { loadOnce } from '../../../base/single-flight.ts'
import { messageOf } from '../../../base/thrown.ts'

/**
 * @param load loads the real one; called at the first use, and again only after it has failed
 * @example createLazyTransport(async () => (await import('./open-transport.ts')).createTransportOpener({ dial }))
 */
export const createLazyTransport = (load: () => Promise<OpenTransport>): OpenTransport => {
  const loadTransports = loadOnce(load)
  let open: OpenTransport | undefined
  return (target, handlers) => {
    if (open !== undefined) return open(target, handlers)
    const lazy = new LazyTransport(handlers)
    loadTransports().then(
      (loaded) => {
        open = loaded
        lazy.start((watched) => loaded(target, watched))
      },
      (cause: unknown) => {
        lazy.fail(messageOf(cause))
      },
    )
    return lazy
  }
}

/** Nothing is sent before it is open, so it needs no queue. */
class LazyTransport implements Transport {
  readonly #handlers: TransportHandlers
  #real: Transport | undefined = undefined
  #isClosed = false

  constructor(handlers: TransportHandlers) {
    this.#handlers = handlers
  }

  get bufferedBytes(): number {
    return this.#real?.bufferedBytes ?? 0
  }

  get hasRoom(): boolean {
    return this.#real?.hasRoom ?? true
  }

  send(...[message]: Parameters<Transport['send']>): void {
    this.#real?.send(message)
  }

  close(): void {
    if (this.#real !== undefined) this.#real.close()
    else if (!this.#isClosed) {
      this.#isClosed = true
      queueMicrotask(() => {
        this.#handlers.onClose({ kind: 'closed', reason: 'closed before it was opened' })
      })
    }
  }

  start(open: (handlers: TransportHandlers) => Transport): void {
    if (!this.#isClosed) this.#real = open(this.#handlers)
  }

  fail(reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#handlers.onClose({ kind: 'unreachable', reason: `the transport is broken: ${reason}` })
  }
}
