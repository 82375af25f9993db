// Keeps the durable registrations and subscriptions of a realm for callbacks, under ids of the gateway's own that
// outlive a reconnect. Their number is bounded; it knows nothing of HTTP.

import type { DurableItem } from './item.ts'
import { DurableRegistration, type DurableRealm } from './registration.ts'
import { DurableSubscription } from './subscription.ts'
import { asFault, obstacleFault, overloadFault, type Obstacle } from '../unavailable.ts'
import type { TopicRegistry } from '../topic-registry.ts'
import type {
  DurableHandle,
  DurableKind,
  DurableListing,
  Registration,
  Subscription,
} from '../wamp-client.ts'
import { WampFault, type WampSession } from '../../session/joined-session.ts'

const MAX_HELD = 1000

interface Entry {
  readonly item: DurableItem
  /** The router has acknowledged it once: from then on it is listed, and can be released. */
  isHeld: boolean
}

export class DurableRegistry {
  readonly #realm: DurableRealm
  readonly #topics: TopicRegistry
  readonly #obstacle: () => Obstacle
  readonly #entries = new Map<number, Entry>()
  #home: WampSession | undefined

  constructor(realm: DurableRealm, topics: TopicRegistry, obstacle: () => Obstacle) {
    this.#realm = realm
    this.#topics = topics
    this.#obstacle = obstacle
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
    if (entry?.item.kind !== kind || !entry.isHeld) return false
    this.#entries.delete(id)
    this.#realm.setup.noteStatus()
    await entry.item.end(new WampFault('wamp.error.canceled', 'It has been released'))
    return true
  }

  /** After the topics have been moved. */
  moveTo(session: WampSession | undefined): void {
    this.#home = session
    for (const { item } of [...this.#entries.values()]) item.moveTo(session)
  }

  /** The links go: nothing is held any more. */
  dropAll(fault: WampFault): void {
    this.#home = undefined
    const entries = [...this.#entries.values()]
    if (entries.length === 0) return
    this.#entries.clear()
    for (const { item } of entries) void item.end(fault)
    const { realmUri, setup } = this.#realm
    setup.noteStatus()
    setup.log.warn(
      'registrations and subscriptions for callbacks end with the sessions of the realm',
      {
        realm: realmUri,
        count: entries.length,
        reason: fault.message,
      },
    )
  }

  listings(): readonly DurableListing[] {
    return [...this.#entries].flatMap(([id, { item, isHeld }]) => {
      if (!isHeld) return []
      const { kind, uri, match, callback, isActive } = item
      return [{ kind, id, uri, match, callback, isActive }]
    })
  }

  async #add(make: (home: WampSession) => DurableItem): Promise<DurableHandle> {
    if (this.#home === undefined) throw obstacleFault(this.#obstacle(), this.#realm.realmUri)
    if (this.#entries.size >= MAX_HELD)
      throw overloadFault('registrations and subscriptions for callbacks', MAX_HELD)
    const entry: Entry = { item: make(this.#home), isHeld: false }
    const id = this.#freeId()
    this.#entries.set(id, entry)
    try {
      await entry.item.start()
    } catch (error) {
      this.#entries.delete(id)
      throw asFault(error)
    }
    entry.isHeld = true
    this.#realm.setup.noteStatus()
    return { id }
  }

  /** 1 to 2^53 - 1; the next free one in the unlikely case that it is taken. */
  #freeId(): number {
    let id = 1 + Math.floor(this.#realm.setup.random() * Number.MAX_SAFE_INTEGER)
    while (this.#entries.has(id)) id = (id % Number.MAX_SAFE_INTEGER) + 1
    return id
  }
}
