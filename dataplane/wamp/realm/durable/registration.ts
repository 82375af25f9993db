// One procedure that a callback answers: kept registered on whatever session is there, its invocations
// handed on. After the first time a refusal is no end: it is asked for again.

import type { BridgeSetup } from '../bridge-setup.ts'
import type { RunningInvocations } from './invocations.ts'
import type { HeldItem } from './item.ts'
import { HeldRetry } from './retry.ts'
import { releaseHold } from '../release.ts'
import { asFault, isLoss, obstacleFault } from '../unavailable.ts'
import type { RealmTurns } from '../router-request-limiter.ts'
import { matchOf } from '../topic-match.ts'
import type { Registration } from '../wamp-client.ts'
import type { SessionHold, WampFault, WampSession } from '../../session/joined-session.ts'

export interface HeldRealm {
  readonly realmUri: string
  readonly setup: BridgeSetup
  readonly turns: RealmTurns
  readonly invocations: RunningInvocations
}

/** Where it is to be registered; a later one takes the place of an earlier one. */
interface Stay {
  readonly session: WampSession | undefined
}

export class HeldRegistration implements HeldItem {
  readonly kind = 'registration'
  readonly uri: string
  readonly match: string
  readonly callback: string
  readonly #registration: Registration
  readonly #realm: HeldRealm
  readonly #retry: HeldRetry
  #stay: Stay
  #hold: SessionHold | undefined
  /** The sessions it was on before have let go of it. */
  #left = Promise.resolve()
  /** Why it ended. */
  #end: WampFault | undefined

  constructor(registration: Registration, realm: HeldRealm, session: WampSession) {
    this.uri = registration.procedure
    this.match = matchOf(registration.options)
    this.callback = registration.callback
    this.#registration = registration
    this.#realm = realm
    this.#retry = new HeldRetry(realm.setup)
    this.#stay = { session }
  }

  get isActive(): boolean {
    return this.#hold !== undefined
  }

  async start(): Promise<void> {
    try {
      await this.#register(this.#stay)
    } catch (error) {
      const fault = this.#end ?? asFault(error)
      // It may have been moved meanwhile, and be on its way to another session.
      void this.end(fault)
      throw fault
    }
    if (this.#end !== undefined) throw this.#end
  }

  moveTo(session: WampSession | undefined): void {
    const stay = { session }
    this.#stay = stay
    this.#retry.reset()
    const before = this.#hold
    this.#hold = undefined
    this.#realm.setup.noteStatus()
    // First here, then there: both may be sessions with one router, which lets only one register.
    this.#left = this.#left.then(() => this.#release(before))
    void this.#left.then(() => this.#settle(stay))
  }

  async end(fault: WampFault): Promise<void> {
    const before = this.#hold
    this.#end = fault
    this.#hold = undefined
    this.#stay = { session: undefined }
    this.#retry.reset()
    await this.#release(before)
  }

  async #settle(stay: Stay): Promise<void> {
    try {
      await this.#register(stay)
    } catch (error) {
      const fault = asFault(error)
      if (this.#stay !== stay) return
      const isFirst = this.#retry.schedule(() => void this.#settle(stay))
      if (isFirst && !isLoss(fault))
        this.#log('a held registration was refused; it is tried again', { error: fault })
    }
  }

  async #register(stay: Stay): Promise<void> {
    const { session } = stay
    if (this.#stay !== stay || session === undefined) return
    const hold = await this.#realm.turns.run(
      () => this.#ask(stay, session),
      (late) => void this.#release(late),
    )
    if (this.#stay !== stay) {
      await this.#release(hold)
      return
    }
    this.#hold = hold
    this.#retry.succeed()
    this.#realm.setup.noteStatus()
    void hold.revoked.then(() => {
      this.#lose(stay, hold)
    })
  }

  /** The router has revoked it: an administrator perhaps, or another callee has taken its place. */
  #lose(stay: Stay, hold: SessionHold): void {
    if (this.#hold !== hold) return
    this.#hold = undefined
    this.#realm.setup.noteStatus()
    const isFirst = this.#retry.schedule(() => void this.#settle(stay))
    if (isFirst) this.#log('a held registration was revoked by the router; it is made again')
  }

  /** Its turn may come when it has been moved on. */
  #ask(stay: Stay, session: WampSession): Promise<SessionHold> {
    if (this.#stay !== stay) return Promise.reject(obstacleFault('away', this.#realm.realmUri))
    const { procedure, options, handler } = this.#registration
    return session.register(procedure, options, (invocation) =>
      this.#realm.invocations.during(session, () => handler(invocation)),
    )
  }

  #release(hold: SessionHold | undefined): Promise<void> {
    const { realmUri, setup, turns } = this.#realm
    return releaseHold(hold, { realmUri, turns, log: setup.log })
  }

  #log(message: string, more: { readonly error?: WampFault } = {}): void {
    const { realmUri, setup } = this.#realm
    setup.log.warn(message, { realm: realmUri, procedure: this.uri, ...more })
  }
}
