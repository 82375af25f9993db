// What is published, who hears of it, and what the publisher is told.

import { MESSAGE } from '../../../../dataplane/wamp/protocol/messages.ts'
import type { RawPeer } from '../../../support/raw-wamp-peer.ts'
import {
  call,
  idOf,
  type PeerEvent,
  publish,
  subscribe,
  unsubscribe,
} from '../../../support/wamp-peer.ts'
import { ABLE_CALLEE, type CaseContext, type ContractCase, errorOf } from '../contract-case.ts'

export const PUBLICATION_CASES: readonly ContractCase[] = [
  {
    name: 'acknowledged: a publication id, a safe integer, that of the event',
    same: { isSafe: true, isSame: true, args: [1], kwargs: { a: 2 } },
    run: async ({ caller, callee, uri }) => {
      const events = await eventsOf(callee, uri)
      const id = idOf(await publish(caller, uri, { args: [1], kwargs: { a: 2 } }))
      const [event] = await settled(caller, callee, uri, events)
      return {
        isSafe: Number.isSafeInteger(id) && id > 0,
        isSame: event?.publicationId === id,
        args: event?.args,
        kwargs: event?.kwargs,
      }
    },
  },
  {
    name: 'acknowledged without subscribers',
    same: true,
    run: async ({ caller, uri }) => Number.isSafeInteger(idOf(await publish(caller, uri))),
  },
  {
    name: 'unacknowledged publications are not answered, not even refused ones',
    same: [],
    run: async ({ caller }) => {
      const id = caller.nextId()
      caller.send([MESSAGE.publish, id, {}, 'com.example.forbidden.x'])
      await call(caller, 'com.example.no.such.procedure')
      return caller.unread.filter((message) => message.includes(id))
    },
  },
  {
    name: 'a forbidden topic',
    same: ['wamp.error.not_authorized', 'wamp.error.not_authorized'],
    run: async ({ caller, callee }) => [
      errorOf(await publish(caller, 'com.example.forbidden.x')),
      errorOf(await subscribe(callee, 'com.example.forbidden.x', () => undefined)),
    ],
  },
  {
    name: 'the publisher hears itself only with exclude_me false',
    same: [['with']],
    run: async ({ callee, uri }) => {
      const events = await eventsOf(callee, uri)
      await publish(callee, uri, { args: ['without'] })
      await publish(callee, uri, { args: ['with'], options: { exclude_me: false } })
      return (await settled(callee, callee, uri, events)).map(({ args }) => args)
    },
  },
  {
    name: "the publisher's identity with disclose_me",
    same: true,
    run: async (context) => 'publisher' in (await oneEvent(context, { disclose_me: true })).details,
  },
  {
    name: "the publisher's identity without disclose_me",
    each: { embedded: false, nexus: false, crossbar: true },
    run: async (context) => 'publisher' in (await oneEvent(context, {})).details,
  },
  {
    name: 'exact, prefix and wildcard: one EVENT per subscription; patterns tell the topic',
    each: {
      embedded: { exact: [undefined], prefix: ['.a.b'], wildcard: ['.a.b'] },
      nexus: { exact: ['.a.b'], prefix: ['.a.b'], wildcard: ['.a.b'] },
      crossbar: { exact: [undefined], prefix: ['.a.b'], wildcard: ['.a.b'] },
    },
    run: async ({ caller, callee, uri }) => {
      const exact = await eventsOf(callee, `${uri}.a.b`)
      const prefix = await eventsOf(callee, uri, 'prefix')
      const wildcard = await eventsOf(callee, `${uri}..b`, 'wildcard')
      await publish(caller, `${uri}.a.b`)
      await settled(caller, callee, uri, [])
      const topics = (events: readonly PeerEvent[]) =>
        events.flatMap(({ details }) => {
          const topic = typeof details['topic'] === 'string' ? details['topic'] : undefined
          return topic === `${uri}.settled` ? [] : [topic?.slice(uri.length)]
        })
      return { exact: topics(exact), prefix: topics(prefix), wildcard: topics(wildcard) }
    },
  },
  {
    name: 'a second subscription of a session to a topic has the same id',
    same: true,
    run: async ({ callee, uri }) => {
      const ignore = (): void => undefined
      const id = idOf(await subscribe(callee, uri, ignore))
      return id === idOf(await subscribe(callee, uri, ignore))
    },
  },
  {
    name: 'after UNSUBSCRIBE nothing comes',
    same: { events: [], again: 'wamp.error.no_such_subscription' },
    run: async ({ caller, callee, uri }) => {
      const events: PeerEvent[] = []
      const id = idOf(await subscribe(callee, uri, (event) => events.push(event)))
      await unsubscribe(callee, id)
      await publish(caller, uri)
      await settled(caller, callee, `${uri}.other`, [])
      return { events, again: errorOf(await unsubscribe(callee, id)) }
    },
  },
]

const eventsOf = async (peer: RawPeer, topic: string, match = 'exact'): Promise<PeerEvent[]> => {
  const events: PeerEvent[] = []
  idOf(await subscribe(peer, topic, (event) => events.push(event), { match }))
  return events
}

/** Events come in order: once this one is there, all before it are. */
const settled = async (
  publisher: RawPeer,
  subscriber: RawPeer,
  uri: string,
  events: PeerEvent[],
): Promise<readonly PeerEvent[]> => {
  const last = Promise.withResolvers<undefined>()
  const id = idOf(
    await subscribe(subscriber, `${uri}.settled`, () => {
      last.resolve(undefined)
    }),
  )
  await publish(publisher, `${uri}.settled`, { options: { exclude_me: false } })
  await last.promise
  await unsubscribe(subscriber, id)
  return events
}

const oneEvent = async (
  { caller, open, uri }: CaseContext,
  options: Readonly<Record<string, boolean>>,
): Promise<PeerEvent> => {
  const subscriber = await open({ roles: ABLE_CALLEE })
  const events = await eventsOf(subscriber, uri)
  await publish(caller, uri, { options })
  const [event] = await settled(caller, subscriber, uri, events)
  if (event === undefined) throw new Error('no event came')
  return event
}
