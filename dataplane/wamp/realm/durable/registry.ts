// Keeps the durable registrations and subscriptions of a realm for callbacks, under ids of the gateway's own that
// outlive a reconnect. Their number is bounded; it knows nothing of HTTP.

import type { DurableItem } from './item.ts'
import { DurableRegistration, type DurableRealm } from './registration.ts'
import { DurableSubscription } from './subscription.ts'
import {
  asWampError,
  unavailableError,
  overloadedError,
  type UnavailableReason,
} from '../unavailable.ts'
import type { TopicRegistry } from '../topic-registry.ts'
import type {
  DurableHandle,
  DurableKind,
  DurableListing,
  Registration,
  Subscription,
} from '../wamp-client.ts'
import { WampError, type WampSession } from '../../session/joined-session.ts'

const MAX_ITEMS = 1000

interface Entry {
  readonly item: DurableItem
  /** The router has acknowledged it once: from then on it is listed, and can be released. */
  isAcknowledged: boolean
}

export class DurableRegistry {
  readonly #realm: DurableRealm
  readonly #topics: TopicRegistry
  readonly #unavailableReason: () => UnavailableReason
  readonly #entries = new Map<number, Entry>()
  #home: WampSession | undefined

  constructor(
    realm: DurableRealm,
    topics: TopicRegistry,
    unavailableReason: () => UnavailableReason,
  ) {
    this.#realm = realm
    this.#topics = topics
    this.#unavailableReason = unavailableReason
  }

  register(registration: Registration): Promise<DurableHandle> {
    return this.#add((home) => new DurableRegistration(registration, this.#realm, home))
  }

  subscribe(subscription: Subscription): Promise<DurableHandle> {
    return this.#add(() => new DurableSubscription(subscription, this.#realm, this.#topics))
  }

  /** False: there is no such id here. */
  async release(kind: DurableKind, id: number): Promise<boolean> {
    const entry = this.#entries.get(id)
    if (entry?.item.kind !== kind || !entry.isAcknowledged) return false
    this.#entries.delete(id)
    this.#realm.setup.noteStatus()
    await entry.item.end(new WampError('wamp.error.canceled', 'It has been released'))
    return true
  }

  /** To be called after the topics have been moved. */
  moveTo(session: WampSession | undefined): void {
    this.#home = session
    for (const { item } of [...this.#entries.values()]) item.moveTo(session)
  }

  /** The links are closed: everything durable ends. */
  dropAll(error: WampError): void {
    this.#home = undefined
    const entries = [...this.#entries.values()]
    if (entries.length === 0) return
    this.#entries.clear()
    for (const { item } of entries) void item.end(error)
    const { realmUri, setup } = this.#realm
    setup.noteStatus()
    setup.log.warn(
      'registrations and subscriptions for callbacks end with the sessions of the realm',
      {
        realm: realmUri,
        count: entries.length,
        reason: error.message,
      },
    )
  }

  listings(): readonly DurableListing[] {
    return [...this.#entries].flatMap(([id, { item, isAcknowledged }]) => {
      if (!isAcknowledged) return []
      const { kind, uri, match, callback, isActive } = item
      return [{ kind, id, uri, match, callback, isActive }]
    })
  }

  async #add(make: (home: WampSession) => DurableItem): Promise<DurableHandle> {
    if (this.#home === undefined)
      throw unavailableError(this.#unavailableReason(), this.#realm.realmUri)
    if (this.#entries.size >= MAX_ITEMS)
      throw overloadedError('registrations and subscriptions for callbacks', MAX_ITEMS)
    const entry: Entry = { item: make(this.#home), isAcknowledged: false }
    const id = this.#freeId()
    this.#entries.set(id, entry)
    try {
      await entry.item.start()
    } catch (error) {
      this.#entries.delete(id)
      throw asWampError(error)
    }
    entry.isAcknowledged = true
    this.#realm.setup.noteStatus()
    return { id }
  }

  /** Random, 1 to 2^53 - 1; the next free one in the unlikely case that it is in use. */
  #freeId(): number {
    let id = 1 + Math.floor(this.#realm.setup.random() * Number.MAX_SAFE_INTEGER)
    while (this.#entries.has(id)) id = (id % Number.MAX_SAFE_INTEGER) + 1
    return id
  }
}
