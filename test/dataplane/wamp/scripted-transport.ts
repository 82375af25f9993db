// Transports whose other end is a test: what is sent is kept, what is received is said by the test. Nothing
// is checked here.

import type {
  OpenTransport,
  Transport,
  TransportEnd,
  TransportHandlers,
  TransportTarget,
} from '../../../dataplane/wamp/protocol/transport.ts'
import type { WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import { MessageError } from '../../../dataplane/wamp/protocol/message-error.ts'

/** In place of a value, in arguments or options: the message can't be encoded. */
export const UNENCODABLE = 'unencodable'

export class ScriptedTransport implements Transport {
  readonly sent: WampMessage[] = []
  bufferedBytes = 0
  hasRoom = true
  isClosed = false
  /** Runs within `send`. */
  onSend: (message: WampMessage) => void = () => undefined
  readonly target: TransportTarget
  readonly #handlers: TransportHandlers

  constructor(target: TransportTarget, handlers: TransportHandlers) {
    this.target = target
    this.#handlers = handlers
  }

  send(message: WampMessage): void {
    if (JSON.stringify(message).includes(UNENCODABLE))
      throw new MessageError('unencodable', 'no text for it')
    this.sent.push(message)
    this.onSend(message)
  }

  close(): void {
    this.isClosed = true
  }

  open(): void {
    this.#handlers.onOpen({ serializer: 'json' })
  }

  receive(...message: readonly unknown[]): void {
    this.#handlers.onMessage(message as WampMessage)
  }

  receiveUnreadable(...head: readonly unknown[]): void {
    this.#handlers.onUnreadable(head as WampMessage, 'bad bytes')
  }

  quiet(): void {
    this.#handlers.onQuiet?.()
  }

  end(kind: TransportEnd['kind'], reason = 'gone'): void {
    this.#handlers.onClose({ kind, reason })
  }

  welcome(id = 77): void {
    this.open()
    this.receive(2, id, { roles: { broker: {}, dealer: { features: { call_canceling: true } } } })
  }
}

export interface ScriptedTransports {
  readonly opened: ScriptedTransport[]
  readonly openTransport: OpenTransport
  /** The newest. */
  readonly last: ScriptedTransport
}

export const scriptTransports = (): ScriptedTransports => {
  const opened: ScriptedTransport[] = []
  return {
    opened,
    openTransport: (target, handlers) => {
      const transport = new ScriptedTransport(target, handlers)
      opened.push(transport)
      return transport
    },
    get last() {
      const last = opened.at(-1)
      if (last === undefined) throw new Error('no transport was opened')
      return last
    },
  }
}
