// Opens a transport and writes down all that it tells, in order. It validates nothing.

import type {
  OpenTransport,
  Transport,
  TransportEnd,
  TransportHandlers,
  TransportTarget,
} from '../../../../dataplane/wamp/protocol/transport.ts'
import type { SerializerName, WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { createTransportOpener } from '../../../../dataplane/wamp/transport/open-transport.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import type { Every } from '../../../../dataplane/wamp/transport/keep-alive.ts'
import { eventually } from '../../../support/eventually.ts'

export interface Probe {
  readonly transport: Transport
  readonly opened: SerializerName[]
  readonly messages: WampMessage[]
  readonly unreadable: { readonly head: WampMessage; readonly why: string }[]
  readonly ends: TransportEnd[]
  /** Resolves with the agreed serializer; rejects with the end. */
  untilOpen(): Promise<SerializerName>
  untilMessages(count: number): Promise<readonly WampMessage[]>
  untilEnd(): Promise<TransportEnd>
}

export interface ProbeOptions extends Partial<Omit<TransportTarget, 'url'>> {
  readonly extraCa?: readonly string[]
  readonly open?: OpenTransport
  /** Measures silence; by the system's clock when absent. */
  readonly every?: Every
  readonly handlers?: Partial<TransportHandlers>
}

/**
 * @example
 * const probe = openProbe(`ws://127.0.0.1:${port}`)
 * expect(await probe.untilOpen()).toBe('json')
 */
export const openProbe = (url: string, options: ProbeOptions = {}): Probe => {
  const { extraCa = [], every, handlers, ...target } = options
  const opening = { dial: createRouterDial(extraCa), ...(every && { every }) }
  const { open = createTransportOpener(opening) } = options
  const opened: SerializerName[] = []
  const messages: WampMessage[] = []
  const unreadable: { head: WampMessage; why: string }[] = []
  const ends: TransportEnd[] = []
  const transport = open(
    {
      url,
      serializers: ['json', 'msgpack', 'cbor'],
      keepaliveMs: 0,
      connectTimeoutMs: 5000,
      maxMessageBytes: 2 ** 24,
      ...target,
    },
    {
      onOpen: ({ serializer }) => opened.push(serializer),
      onMessage: (message) => messages.push(message),
      onUnreadable: (head, why) => unreadable.push({ head, why }),
      onClose: (end) => ends.push(end),
      ...handlers,
    },
  )
  const first = <T>(list: readonly T[], why: string): T => {
    const item = list[0]
    if (item === undefined) throw new Error(why)
    return item
  }
  return {
    transport,
    opened,
    messages,
    unreadable,
    ends,
    untilOpen: () =>
      eventually(() => first(opened, `not open: ${JSON.stringify(ends)}`), { everyMs: 2 }),
    untilMessages: (count) =>
      eventually(
        () => {
          if (messages.length < count) throw new Error(`${messages.length} messages came`)
          return messages
        },
        { everyMs: 2 },
      ),
    untilEnd: () => eventually(() => first(ends, 'it has not ended'), { everyMs: 2 }),
  }
}
