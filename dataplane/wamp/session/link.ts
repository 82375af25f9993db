// Keeps one session joined with a router of a realm, for ever: when an attempt fails, the next address is tried at once,
// and all of them again after a back-off. It does not keep the process alive, and an unreachable router costs one timer.

import { displayUrl } from '../../../language/display-url.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import type { Log } from '../../../telemetry/log.ts'
import { guarded } from '../../../base/guarded.ts'
import { loadOnce } from '../../../base/single-flight.ts'
import { loadAutobahn, type Autobahn } from './autobahn.ts'
import { backOffMs } from '../../../base/back-off.ts'
import { routerBackOff } from './back-off.ts'
import { createAuthentication, type Authentication } from './authentication.ts'
import {
  type AttemptBackOff,
  afterFailure,
  afterJoin,
  afterLoss,
  type LinkFailure,
  NO_ATTEMPTS,
} from './link-attempts.ts'
import { createLinkLog, type LinkLog } from './link-log.ts'
import { reasonOf } from './link-text.ts'
import { openSession, type OpenSession, type SessionEnd } from './session.ts'
import type { OpenTransport } from '../protocol/transport.ts'
import type { Link, LinkObserver, LinkOptions, OpenLink, WampSession } from './joined-session.ts'

export interface LinkDeps {
  readonly openTransport: OpenTransport
  readonly log: Log
  /** 0 ≤ random < 1 */
  readonly random: () => number
  /** Milliseconds, monotonic. */
  readonly now?: () => number
}

/**
 * @example
 * const openLink = createLinkOpener({ openTransport, log, random: Math.random })
 * const link = openLink({ realmUri, urls, target, auth }, { onJoined, onLost, onState, onBackOff })
 */
export const createLinkOpener = (deps: LinkDeps): OpenLink => {
  const load = loadOnce(loadAutobahn)
  return (options, observer) => new ReconnectingLink(deps, options, { observer, loading: load() })
}

interface LinkStart {
  readonly observer: LinkObserver
  readonly loading: Promise<Autobahn>
}

type Phase =
  /** The WAMP library is being loaded. */
  | { readonly kind: 'loading' }
  /** It can't be loaded. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'connecting'; readonly opened: OpenSession }
  | {
      readonly kind: 'joined'
      readonly opened: OpenSession
      readonly session: WampSession
      readonly joinedAtMs: number
    }
  /** For the next attempt: after one that failed (`isBackingOff`), or after the end of a session. */
  | {
      readonly kind: 'waiting'
      readonly timer: NodeJS.Timeout
      readonly isBackingOff: boolean
    }
  | { readonly kind: 'closed'; readonly left: Promise<void> }

/** The reason of the state of a closed link. */
const CLOSED = 'closed'

class ReconnectingLink implements Link {
  #phase: Phase = { kind: 'loading' }
  #attempts = NO_ATTEMPTS
  #state: SessionState
  readonly #deps: LinkDeps
  readonly #options: LinkOptions
  readonly #observer: LinkObserver
  readonly #now: () => number
  readonly #log: Log
  readonly #linkLog: LinkLog

  constructor(deps: LinkDeps, options: LinkOptions, { observer, loading }: LinkStart) {
    this.#deps = deps
    this.#options = options
    this.#observer = observer
    this.#now = deps.now ?? (() => performance.now())
    this.#log = deps.log.child({ realm: options.realmUri })
    this.#linkLog = createLinkLog(this.#log, this.#now)
    this.#state = { url: this.#displayUrl(), state: 'connecting' }
    loading.then(
      (autobahn) => {
        this.#dial(autobahn)
      },
      (error: unknown) => {
        this.#log.error('the WAMP library can’t be loaded', { error })
        this.#enter({ kind: 'broken' })
        this.#notifyBackOff()
      },
    )
  }

  get state(): SessionState {
    return this.#state
  }

  get session(): WampSession | undefined {
    return this.#phase.kind === 'joined' ? this.#phase.session : undefined
  }

  get isBackingOff(): boolean {
    const phase = this.#phase
    return phase.kind === 'waiting' ? phase.isBackingOff : phase.kind === 'broken'
  }

  close(): Promise<void> {
    const before = this.#phase
    if (before.kind === 'closed') return before.left
    const { promise: left, resolve }: PromiseWithResolvers<void> = Promise.withResolvers()
    this.#enter({ kind: 'closed', left })
    // What waits in the session is settled within its `close()`, before the observer is notified.
    const leaving = 'opened' in before ? before.opened.close() : Promise.resolve()
    const notifyLost = before.kind === 'joined' ? this.#notifyLost : undefined
    this.#report('waiting', CLOSED, this.#displayUrl(), notifyLost)
    void leaving.then(resolve)
    return left
  }

  /** The one place where the phase changes: no timer outlives its phase, and a closed link stays closed. */
  #enter(next: Phase): void {
    if (this.#phase.kind === 'waiting') clearTimeout(this.#phase.timer)
    if (this.#phase.kind !== 'closed') this.#phase = next
  }

  #dial(autobahn: Autobahn): void {
    if (this.#phase.kind === 'closed') return
    const { realmUri, target, urls, auth } = this.#options
    let authentication: Authentication
    try {
      authentication = createAuthentication(auth)
    } catch (error) {
      const text = error instanceof Error ? error.message : ''
      this.#onFailed(autobahn, { kind: 'refused', uri: 'wamp.error.cannot_authenticate', text })
      return
    }
    // Neither of the two is called within this.
    const opened = openSession(
      {
        autobahn,
        openTransport: this.#deps.openTransport,
        target: { ...target, url: urls[this.#attempts.at] ?? '' },
        realmUri,
        authentication,
        log: this.#log,
      },
      {
        onJoined: (session) => {
          this.#onJoined(opened, session)
        },
        onEnd: (end) => {
          if (this.#phase.kind === 'joined') this.#onLost(autobahn, this.#phase.joinedAtMs, end)
          else this.#onFailed(autobahn, end)
        },
      },
    )
    this.#enter({ kind: 'connecting', opened })
  }

  #onJoined(opened: OpenSession, session: WampSession): void {
    this.#enter({ kind: 'joined', opened, session, joinedAtMs: this.#now() })
    this.#attempts = afterJoin(this.#attempts)
    this.#linkLog.joined({ url: this.#displayUrl(), session: session.id })
    this.#notify(() => {
      this.#observer.onJoined(session)
    })
    // Unless the observer has closed it.
    if (this.session === session) this.#report('open', undefined, this.#displayUrl())
  }

  #onLost(autobahn: Autobahn, joinedAtMs: number, end: SessionEnd): void {
    const failure = this.#failureOf(end)
    const { attempts, backOff } = afterLoss(this.#attempts, this.#now() - joinedAtMs)
    this.#attempts = attempts
    this.#linkLog.failed(failure)
    this.#wait(autobahn, backOff, { isBackingOff: false })
    this.#report('waiting', failure.reason, failure.url, this.#notifyLost)
  }

  #onFailed(autobahn: Autobahn, end: SessionEnd): void {
    if (this.#phase.kind === 'closed') return
    const failure = this.#failureOf(end)
    this.#linkLog.failed(failure)
    const next = afterFailure(this.#attempts, failure, this.#options.urls.length)
    this.#attempts = next.attempts
    if (next.kind === 'next_address') {
      this.#dial(autobahn)
      return
    }
    const { isRejection, reason, url } = next.reported
    this.#wait(autobahn, next.backOff, { isBackingOff: true })
    this.#report(isRejection ? 'refused' : 'waiting', reason, url)
    this.#notifyBackOff()
  }

  #wait(
    autobahn: Autobahn,
    { attempt, longestMs }: AttemptBackOff,
    { isBackingOff }: { readonly isBackingOff: boolean },
  ): void {
    const waitMs = backOffMs(attempt, routerBackOff(longestMs), this.#deps.random())
    const timer = setTimeout(() => {
      this.#dial(autobahn)
    }, waitMs).unref()
    this.#enter({ kind: 'waiting', timer, isBackingOff })
  }

  /** Attempts in between change nothing: the state that people see must not flicker. */
  #report(
    state: SessionState['state'],
    reason: string | undefined,
    url: string,
    notifyFirst?: () => void,
  ): void {
    const before = this.#state
    this.#state = { url, state, ...(reason === undefined ? {} : { reason }) }
    notifyFirst?.()
    if (before.state === state && before.reason === reason && before.url === url) return
    this.#notify(() => {
      this.#observer.onState()
    })
  }

  #failureOf(end: SessionEnd): LinkFailure {
    return {
      url: this.#displayUrl(),
      isRejection: end.kind === 'refused',
      reason: reasonOf(end, this.#options.auth.secret),
    }
  }

  #displayUrl(): string {
    return displayUrl(this.#options.urls[this.#attempts.at] ?? '')
  }

  #notifyBackOff(): void {
    this.#notify(() => {
      this.#observer.onBackOff()
    })
  }

  readonly #notifyLost = (): void => {
    this.#notify(() => {
      this.#observer.onLost()
    })
  }

  readonly #notify = guarded(
    (run: () => void) => {
      run()
    },
    (error) => {
      this.#log.error('an observer of a WAMP link failed', { error })
    },
  )
}
