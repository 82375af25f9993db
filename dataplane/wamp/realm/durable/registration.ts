// Keeps one procedure of a callback registered on the current session, and passes its invocations on. Once it has been
// registered, a rejection by the router does not end it: it is registered again after a back-off.

import type { BridgeSetup } from '../bridge-setup.ts'
import type { RunningInvocations } from './invocations.ts'
import type { DurableItem } from './item.ts'
import { SessionRetry } from './retry.ts'
import { releaseHold } from '../release.ts'
import { asWampError, isSessionLoss, unavailableError } from '../unavailable.ts'
import type { RouterRequestLimiter } from '../router-request-limiter.ts'
import { matchOf } from '../topic-match.ts'
import type { Registration } from '../wamp-client.ts'
import type { SessionHold, WampError, WampSession } from '../../session/joined-session.ts'

export interface DurableRealm {
  readonly realmUri: string
  readonly setup: BridgeSetup
  readonly requestLimiter: RouterRequestLimiter
  readonly invocations: RunningInvocations
}

/** Where it is to be registered; a later target replaces an earlier one. */
interface RegistrationTarget {
  readonly session: WampSession | undefined
}

export class DurableRegistration implements DurableItem {
  readonly kind = 'registration'
  readonly uri: string
  readonly match: string
  readonly callback: string
  readonly #registration: Registration
  readonly #realm: DurableRealm
  readonly #retry: SessionRetry
  #target: RegistrationTarget
  #hold: SessionHold | undefined
  /** Resolves when the sessions that it was on before have released it. */
  #left = Promise.resolve()
  /** Why it ended. */
  #end: WampError | undefined

  constructor(registration: Registration, realm: DurableRealm, session: WampSession) {
    this.uri = registration.procedure
    this.match = matchOf(registration.options)
    this.callback = registration.callback
    this.#registration = registration
    this.#realm = realm
    this.#retry = new SessionRetry(realm.setup)
    this.#target = { session }
  }

  get isActive(): boolean {
    return this.#hold !== undefined
  }

  async start(): Promise<void> {
    try {
      await this.#register(this.#target)
    } catch (error) {
      const wampError = this.#end ?? asWampError(error)
      // It may have been moved meanwhile, and be on its way to another session.
      void this.end(wampError)
      throw wampError
    }
    if (this.#end !== undefined) throw this.#end
  }

  moveTo(session: WampSession | undefined): void {
    const target = { session }
    this.#target = target
    this.#retry.reset()
    const before = this.#hold
    this.#hold = undefined
    this.#realm.setup.noteStatus()
    // First here, then there: both may be sessions with one router, which lets only one register.
    this.#left = this.#left.then(() => this.#release(before))
    void this.#left.then(() => this.#registerOrRetry(target))
  }

  async end(error: WampError): Promise<void> {
    const before = this.#hold
    this.#end = error
    this.#hold = undefined
    this.#target = { session: undefined }
    this.#retry.reset()
    await this.#release(before)
  }

  async #registerOrRetry(target: RegistrationTarget): Promise<void> {
    try {
      await this.#register(target)
    } catch (error) {
      const wampError = asWampError(error)
      if (this.#target !== target) return
      const isFirst = this.#retry.schedule(() => void this.#registerOrRetry(target))
      if (isFirst && !isSessionLoss(wampError))
        this.#log('a durable registration was rejected; it is retried', { error: wampError })
    }
  }

  async #register(target: RegistrationTarget): Promise<void> {
    const { session } = target
    if (this.#target !== target || session === undefined) return
    const hold = await this.#realm.requestLimiter.run(
      () => this.#sendRegister(target, session),
      (lateHold) => void this.#release(lateHold),
    )
    if (this.#target !== target) {
      await this.#release(hold)
      return
    }
    this.#hold = hold
    this.#retry.succeed()
    this.#realm.setup.noteStatus()
    void hold.revoked.then(() => {
      this.#lose(target, hold)
    })
  }

  /** The router has revoked it: an administrator perhaps, or another callee has taken its place. */
  #lose(target: RegistrationTarget, hold: SessionHold): void {
    if (this.#hold !== hold) return
    this.#hold = undefined
    this.#realm.setup.noteStatus()
    const isFirst = this.#retry.schedule(() => void this.#registerOrRetry(target))
    if (isFirst)
      this.#log('a durable registration was revoked by the router; it is registered again')
  }

  /** The permit may come when it has been moved on. */
  #sendRegister(target: RegistrationTarget, session: WampSession): Promise<SessionHold> {
    if (this.#target !== target)
      return Promise.reject(unavailableError('away', this.#realm.realmUri))
    const { procedure, options, handler } = this.#registration
    return session.register(procedure, options, (invocation) =>
      this.#realm.invocations.during(session, () => handler(invocation)),
    )
  }

  #release(hold: SessionHold | undefined): Promise<void> {
    const { realmUri, setup, requestLimiter } = this.#realm
    return releaseHold(hold, { realmUri, requestLimiter, log: setup.log })
  }

  #log(message: string, more: { readonly error?: WampError } = {}): void {
    const { realmUri, setup } = this.#realm
    setup.log.warn(message, { realm: realmUri, procedure: this.uri, ...more })
  }
}
