// Defines the interface between the registry of durable items and its two kinds: registrations and subscriptions of
// callbacks.

import type { DurableKind } from '../wamp-client.ts'
import type { WampError, WampSession } from '../../session/joined-session.ts'

export interface DurableItem {
  readonly kind: DurableKind
  readonly uri: string
  readonly match: string
  readonly callback: string
  /** The router has it. */
  readonly isActive: boolean
  /** Registers or subscribes for the first time. Rejects with a WampError, after which the item cannot be used. */
  start(): Promise<void>
  /** Moves it to another session; undefined: no session is joined. */
  moveTo(session: WampSession | undefined): void
  /** Stops it; resolves when the router has released it, or does not respond. */
  end(error: WampError): Promise<void>
}
