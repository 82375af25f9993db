// Defines the interface between the registry of durable items and its two kinds: registrations and subscriptions of
// callbacks.

import type { DurableKind } from '../wamp-client.ts'
import type { WampFault, WampSession } from '../../session/joined-session.ts'

export interface DurableItem {
  readonly kind: DurableKind
  readonly uri: string
  readonly match: string
  readonly callback: string
  /** The router has it. */
  readonly isActive: boolean
  /** Asks the router for the first time. Rejects with a WampFault; then the item is of no use. */
  start(): Promise<void>
  /** To another session; undefined: the router is away. */
  moveTo(session: WampSession | undefined): void
  /** Nothing runs any more; resolves when the router has been told, or will not answer. */
  end(fault: WampFault): Promise<void>
}
