// What all serving processes last said of themselves, of their sessions with routers and of the state they share:
// the control half reads it for the management API. It asks nobody; whoever knows better writes it.

import type { SessionState } from '../../../language/wire/wire.ts'
import type { SharedHealth } from '../../shared/shared-state.ts'
import type { HeldKind, HeldListing, RealmBridgeStatus } from '../../wamp/realm/wamp-client.ts'

/** A registration or subscription for a callback, wherever in this gateway it is held. */
export interface HeldName {
  readonly realmUri: string
  readonly held: HeldKind
  readonly id: number
}

/** What a serving process says to, and asks of, the others through whoever runs it. */
export interface BridgePeers {
  /** May be called often: only what differs goes on. */
  statusChanged(status: readonly RealmBridgeStatus[]): void
  /** Of the shared state as this process reaches it. */
  healthChanged(health: SharedHealth): void
  /** False: no other process holds it. Never rejects. */
  releaseElsewhere(name: HeldName): Promise<boolean>
}

export class BridgeBoard {
  readonly #processes = new Map<number, readonly RealmBridgeStatus[]>()
  readonly #listeners: (() => void)[] = []
  /** Processes that can't reach the shared state. */
  readonly #away = new Set<number>()

  write(process: number, status: readonly RealmBridgeStatus[]): void {
    this.#processes.set(process, status)
    for (const listener of this.#listeners) listener()
  }

  writeHealth(process: number, health: SharedHealth): void {
    if (health === 'away') this.#away.add(process)
    else this.#away.delete(process)
  }

  /** Some process can't reach what it shares with others. */
  get isSharedStateAway(): boolean {
    return this.#away.size > 0
  }

  /** The process has ended. */
  erase(process: number): void {
    this.#away.delete(process)
    if (this.#processes.delete(process)) for (const listener of this.#listeners) listener()
  }

  /** `listener` runs after every change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Of every process, one after the other. */
  sessionsOf(realmUri: string): readonly SessionState[] {
    return this.#realms(realmUri).flatMap(({ sessions }) => sessions)
  }

  heldOf(realmUri: string): readonly HeldListing[] {
    return this.#realms(realmUri).flatMap(({ held }) => held)
  }

  #realms(realmUri: string): readonly RealmBridgeStatus[] {
    return [...this.#processes.values()].flatMap((status) =>
      status.filter((realm) => realm.realmUri === realmUri),
    )
  }
}

/** The peers of a process that serves alone. */
export const peersOfOne = (board: BridgeBoard): BridgePeers => ({
  statusChanged: (status) => {
    board.write(0, status)
  },
  healthChanged: (health) => {
    board.writeHealth(0, health)
  },
  releaseElsewhere: () => Promise.resolve(false),
})
