// Keeps the latest status of all serving processes, of their sessions with routers, identity providers and the shared
// state, for the management API. It requests nothing: the processes write their status.

import type {
  FailingCredential,
  FailingProvider,
  SessionState,
} from '../../../language/wire/wire.ts'
import type { RealmCredential } from '../../credentials/watch-credentials.ts'
import type { RealmProvider } from '../../oidc/provider/watch-providers.ts'
import type { SharedHealth } from '../../shared/shared-state.ts'
import type {
  DurableKind,
  DurableListing,
  RealmBridgeStatus,
} from '../../wamp/realm/wamp-client.ts'

/** A registration or subscription for a callback, in whichever process of this gateway it is. */
export interface DurableName {
  readonly realmUri: string
  readonly kind: DurableKind
  readonly id: number
}

/** What a serving process reports to, and requests of, the others, through the process that runs it. */
export interface BridgePeers {
  /** May be called often: only changes are passed on. */
  statusChanged(status: readonly RealmBridgeStatus[]): void
  /** Reports whether this process can reach the shared state. */
  healthChanged(health: SharedHealth): void
  /** Reports all identity providers whose discovery fails in this process. */
  providersChanged(failing: readonly RealmProvider[]): void
  /** Reports all credentials for upstreams that this process can't use, or soon can't. */
  credentialsChanged(failing: readonly RealmCredential[]): void
  /** False: no other process has it. Never rejects. */
  releaseElsewhere(name: DurableName): Promise<boolean>
}

export class ProcessStatusRegistry {
  readonly #processes = new Map<number, readonly RealmBridgeStatus[]>()
  readonly #providers = new Map<number, readonly RealmProvider[]>()
  readonly #credentials = new Map<number, readonly RealmCredential[]>()
  readonly #listeners: (() => void)[] = []
  /** Processes that cannot reach the shared state. */
  readonly #away = new Set<number>()

  write(process: number, status: readonly RealmBridgeStatus[]): void {
    this.#processes.set(process, status)
    this.#notify()
  }

  writeProviders(process: number, failing: readonly RealmProvider[]): void {
    this.#providers.set(process, failing)
    this.#notify()
  }

  writeCredentials(process: number, failing: readonly RealmCredential[]): void {
    this.#credentials.set(process, failing)
    this.#notify()
  }

  writeHealth(process: number, health: SharedHealth): void {
    if (health === 'away') this.#away.add(process)
    else this.#away.delete(process)
  }

  /** Whether some process cannot reach the shared state. */
  get isSharedStateAway(): boolean {
    return this.#away.size > 0
  }

  /** Call it when the process has ended. */
  erase(process: number): void {
    this.#away.delete(process)
    const hadProviders = this.#providers.delete(process)
    const hadCredentials = this.#credentials.delete(process)
    if (this.#processes.delete(process) || hadProviders || hadCredentials) this.#notify()
  }

  /** `listener` runs after every change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The sessions of every process, one after the other. */
  sessionsOf(realmUri: string): readonly SessionState[] {
    return this.#realms(realmUri).flatMap(({ sessions }) => sessions)
  }

  /**
   * The identity providers whose discovery fails in any process: those that have had no login know nothing, and each
   * that does know tries again.
   */
  failingProvidersOf(realmUri: string): readonly FailingProvider[] {
    const byName = new Map<string, FailingProvider>()
    for (const failing of this.#providers.values())
      for (const { realmUri: uri, ...each } of failing)
        if (uri === realmUri && !byName.has(each.provider)) byName.set(each.provider, each)
    return [...byName.values()]
  }

  /** The credentials for upstreams that any process can't use. */
  failingCredentialsOf(realmUri: string): readonly FailingCredential[] {
    const byName = new Map<string, FailingCredential>()
    for (const failing of this.#credentials.values())
      for (const { realmUri: uri, ...each } of failing)
        if (uri === realmUri && !byName.has(each.credential)) byName.set(each.credential, each)
    return [...byName.values()]
  }

  durableOf(realmUri: string): readonly DurableListing[] {
    return this.#realms(realmUri).flatMap(({ durable }) => durable)
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }

  #realms(realmUri: string): readonly RealmBridgeStatus[] {
    return [...this.#processes.values()].flatMap((status) =>
      status.filter((realm) => realm.realmUri === realmUri),
    )
  }
}

/** The peers of a process that serves alone. */
export const peersOfOne = (processStatus: ProcessStatusRegistry): BridgePeers => ({
  statusChanged: (status) => {
    processStatus.write(0, status)
  },
  healthChanged: (health) => {
    processStatus.writeHealth(0, health)
  },
  providersChanged: (failing) => {
    processStatus.writeProviders(0, failing)
  },
  credentialsChanged: (failing) => {
    processStatus.writeCredentials(0, failing)
  },
  releaseElsewhere: () => Promise.resolve(false),
})
