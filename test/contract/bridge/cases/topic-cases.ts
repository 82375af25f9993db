// Publications and topics through the bridge, by every transport and serializer.

import type { PeerEvent } from '../../../support/wamp-peer.ts'
import { idOf, publish, subscribe } from '../../../support/wamp-peer.ts'
import { eventually } from '../../../support/eventually.ts'
import { errorOf } from '../../router/contract-case.ts'
import type { BridgeCase, BridgeContext } from '../bridge-case.ts'
import { follow, settledBy } from '../bridge-rig.ts'

export const TOPIC_CASES: readonly BridgeCase[] = [
  {
    name: 'a publication is acknowledged with the id of its event',
    same: { isSame: true, args: [1], kwargs: { a: 2 } },
    run: async ({ rig, peer, uri }) => {
      const events: PeerEvent[] = []
      await subscribe(peer, uri, (event) => events.push(event))
      const published = await rig.client.publish(uri, { args: [1], kwargs: { a: 2 } }, {})
      const event = await first(events)
      const isSame = event.publicationId === published.publicationId
      return { isSame, args: event.args, kwargs: event.kwargs }
    },
  },
  {
    name: 'a forbidden publication',
    same: 'wamp.error.not_authorized',
    run: async ({ rig }) => {
      const payload = { args: [], kwargs: {} }
      return errorOf(await settledBy(rig.client.publish('com.example.forbidden.x', payload, {})))
    },
  },
  {
    name: 'a forbidden topic',
    same: ['wamp.error.not_authorized'],
    run: async ({ rig }) => (await follow(rig.client, 'com.example.forbidden.x')).told,
  },
  {
    name: 'exact: two followers, one subscription, one event for each, details.topic',
    same: { told: ['followed'], topics: [[''], ['']], isSame: true, args: ['x'] },
    run: async ({ rig, peer, uri }) => {
      const [one, two] = [await follow(rig.client, uri), await follow(rig.client, uri)]
      await publish(peer, uri, { args: ['x'] })
      await first(two.events)
      const topics = [one, two].map(({ events }) => events.map(topicEnd(uri)))
      const isSame = one.events[0] === two.events[0]
      const { args } = await first(one.events)
      one.end()
      two.end()
      return { told: one.told, topics, isSame, args }
    },
  },
  {
    name: 'prefix and wildcard: details.topic is what was published to',
    same: { prefix: ['.a.b'], wildcard: ['.a.b'] },
    run: async ({ rig, peer, uri }) => {
      const prefix = await follow(rig.client, uri, { match: 'prefix' })
      const wildcard = await follow(rig.client, `${uri}..b`, { match: 'wildcard' })
      await publish(peer, `${uri}.a.b`)
      await first(wildcard.events)
      await first(prefix.events)
      for (const followed of [prefix, wildcard]) followed.end()
      const ends = (events: readonly object[]) => events.map(topicEnd(uri))
      return { prefix: ends(prefix.events), wildcard: ends(wildcard.events) }
    },
  },
  {
    name: 'who has ended hears nothing more, the other one does',
    same: { ended: 1, going: 2 },
    run: async ({ rig, peer, uri }) => {
      const [ended, going] = [await follow(rig.client, uri), await follow(rig.client, uri)]
      await publish(peer, uri)
      await eventually(() => {
        if (ended.events.length === 0) throw new Error('no event yet')
      })
      ended.end()
      await publish(peer, uri)
      await eventually(() => {
        if (going.events.length < 2) throw new Error('no second event yet')
      })
      going.end()
      return { ended: ended.events.length, going: going.events.length }
    },
  },
  {
    name: 'events keep the order of their publications',
    same: Array.from({ length: 200 }, (_, n) => n),
    run: async ({ rig, peer, uri }) => {
      const followed = await follow(rig.client, uri)
      for (let n = 0; n < 200; n += 1) await publish(peer, uri, { args: [n] })
      await eventually(() => {
        if (followed.events.length < 200) throw new Error(`${followed.events.length} events`)
      })
      followed.end()
      return followed.events.map(({ args }) => args[0])
    },
  },
  {
    name: 'a subscription for a callback gets events until it is released',
    same: { before: 1, released: [true, false], after: 1 },
    run: async ({ rig, peer, uri }) => {
      const events: unknown[] = []
      const onEvent = (event: unknown): void => void events.push(event)
      const held = await rig.client.subscribe({
        topic: uri,
        options: {},
        onEvent,
        onEnd: () => undefined,
        callback: 'x',
      })
      await publish(peer, uri)
      await first(events)
      const before = events.length
      const released = [
        await rig.client.release('subscription', held.id),
        await rig.client.release('subscription', held.id),
      ]
      await publish(peer, uri)
      await settledTopic({ rig, peer, uri })
      return { before, released, after: events.length }
    },
  },
]

const first = <T>(events: readonly T[]): Promise<T> =>
  eventually(
    () => {
      const [event] = events
      if (event === undefined) throw new Error('no event has come')
      return event
    },
    { everyMs: 2 },
  )

const topicEnd =
  (uri: string) =>
  (event: object): unknown => {
    const details: unknown = 'details' in event ? event.details : undefined
    const topic: unknown =
      typeof details === 'object' && details !== null && 'topic' in details
        ? details.topic
        : undefined
    return typeof topic === 'string' ? topic.slice(uri.length) : topic
  }

/** Events come in order: all that were published before have come. */
const settledTopic = async ({
  rig,
  peer,
  uri,
}: Pick<BridgeContext, 'rig' | 'peer' | 'uri'>): Promise<void> => {
  const last = await follow(rig.client, `${uri}.settled`)
  idOf(await publish(peer, `${uri}.settled`))
  await first(last.events)
  last.end()
}
