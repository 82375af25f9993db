// Addresses of a realm's routers come in; one joined session at a time goes out, for ever: the next address at
// once, the next round after a pause. It never holds the process, and a router that is away costs a timer.

import { displayUrl } from '../../../language/display-url.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import type { Log } from '../../../telemetry/log.ts'
import { guarded } from '../../../base/guarded.ts'
import { loadOnce } from '../../../base/single-flight.ts'
import { loadAutobahn, type Autobahn } from './autobahn.ts'
import { backOffMs } from '../../../base/back-off.ts'
import { routerBackOff } from './back-off.ts'
import { createAuthentication, type Authentication } from './authentication.ts'
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

// Calls succeed within two seconds of a router's return, so no pause is longer than one …
const LONGEST_PAUSE_MS = 1000
// … but a router that says no will say so again: somebody has to change something first.
const LONGEST_REFUSED_PAUSE_MS = 30_000
/** A session that ends sooner does not count as a success. */
const LASTING_MS = 5000

/**
 * @example
 * const openLink = createLinkOpener({ openTransport, log, random: Math.random })
 * const link = openLink({ realmUri, urls, target, auth }, { onJoined, onLost, onState })
 */
export const createLinkOpener = (parts: LinkDeps): OpenLink => {
  const load = loadOnce(loadAutobahn)
  return (options, observer) => new ReconnectingLink(parts, options, { observer, loading: load() })
}

interface LinkSurroundings {
  readonly observer: LinkObserver
  readonly loading: Promise<Autobahn>
}

const CLOSED = 'closed'

/** What became of one address in a round. */
interface Failure {
  readonly url: string
  readonly isRejection: boolean
  readonly reason: string
}

class ReconnectingLink implements Link {
  #state: SessionState
  #session: WampSession | undefined
  #opened: OpenSession | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #isBackingOff = false
  #closed: Promise<void> | undefined
  #autobahn: Autobahn | undefined
  /** Index of the address in use. */
  #at = 0
  /** Of this round of addresses. */
  #round: Failure[] = []
  #failures = 0
  #refusals = 0
  #joinedAt = 0
  readonly #parts: LinkDeps
  readonly #options: LinkOptions
  readonly #observer: LinkObserver
  readonly #now: () => number
  readonly #log: Log
  readonly #told: LinkLog

  constructor(parts: LinkDeps, options: LinkOptions, { observer, loading }: LinkSurroundings) {
    this.#parts = parts
    this.#options = options
    this.#observer = observer
    this.#now = parts.now ?? (() => performance.now())
    this.#log = parts.log.child({ realm: options.realmUri })
    this.#told = createLinkLog(this.#log, this.#now)
    this.#state = { url: this.#displayUrl(), state: 'connecting' }
    loading.then(
      (autobahn) => {
        this.#autobahn = autobahn
        this.#dial()
      },
      (error: unknown) => {
        this.#log.error('the WAMP library can’t be loaded', { error })
        this.#backOff()
      },
    )
  }

  get state(): SessionState {
    return this.#state
  }

  get session(): WampSession | undefined {
    return this.#session
  }

  get isBackingOff(): boolean {
    return this.#isBackingOff
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#closed ??= this.#leave()
    return this.#closed
  }

  async #leave(): Promise<void> {
    clearTimeout(this.#timer)
    const leaving = this.#opened?.close()
    this.#become('waiting', CLOSED, this.#displayUrl())
    await leaving
  }

  #dial(): void {
    if (this.#isClosed || this.#autobahn === undefined) return
    this.#isBackingOff = false
    const { realmUri, target, urls, auth } = this.#options
    let authentication: Authentication
    try {
      authentication = createAuthentication(auth)
    } catch (error) {
      const text = error instanceof Error ? error.message : ''
      this.#onFailed({ kind: 'refused', uri: 'wamp.error.cannot_authenticate', text })
      return
    }
    this.#opened = openSession(
      {
        autobahn: this.#autobahn,
        openTransport: this.#parts.openTransport,
        target: { ...target, url: urls[this.#at] ?? '' },
        realmUri,
        authentication,
        log: this.#log,
      },
      {
        onJoined: (session) => {
          this.#onJoined(session)
        },
        onEnd: (end) => {
          this.#opened = undefined
          if (this.#session === undefined) this.#onFailed(end)
          else this.#onLost(end)
        },
      },
    )
  }

  #onJoined(session: WampSession): void {
    this.#session = session
    this.#joinedAt = this.#now()
    this.#round = []
    this.#refusals = 0
    this.#told.joined({ url: this.#displayUrl(), session: session.id })
    this.#tell(() => {
      this.#observer.onJoined(session)
    })
    // Unless the observer has closed it.
    if (this.#session === session) this.#become('open', undefined, this.#displayUrl())
  }

  #onLost(end: SessionEnd): void {
    this.#session = undefined
    const failure = this.#failureOf(end)
    if (!this.#isClosed) {
      if (this.#now() - this.#joinedAt >= LASTING_MS) this.#failures = 0
      this.#told.failed(failure)
      this.#pause(++this.#failures, LONGEST_PAUSE_MS)
    }
    this.#become('waiting', this.#isClosed ? CLOSED : failure.reason, failure.url, () => {
      this.#observer.onLost()
    })
  }

  #onFailed(end: SessionEnd): void {
    if (this.#isClosed) return
    const failure = this.#failureOf(end)
    this.#told.failed(failure)
    this.#round.push(failure)
    this.#at = (this.#at + 1) % this.#options.urls.length
    if (this.#round.length < this.#options.urls.length) this.#dial()
    else this.#endRound(failure)
  }

  /** A refusal says more than an address that is away; but as long as one is away, it may be back any moment. */
  #endRound(last: Failure): void {
    const told = this.#round.find(({ isRejection }) => isRejection) ?? last
    if (this.#round.every(({ isRejection }) => isRejection)) {
      this.#pause(++this.#refusals, LONGEST_REFUSED_PAUSE_MS)
    } else {
      this.#refusals = 0
      this.#pause(++this.#failures, LONGEST_PAUSE_MS)
    }
    this.#round = []
    this.#become(told.isRejection ? 'refused' : 'waiting', told.reason, told.url)
    this.#backOff()
  }

  #backOff(): void {
    this.#isBackingOff = true
    this.#tell(() => {
      this.#observer.onBackOff()
    })
  }

  #pause(attempt: number, longestMs: number): void {
    this.#timer = setTimeout(
      () => {
        this.#dial()
      },
      backOffMs(attempt, routerBackOff(longestMs), this.#parts.random()),
    ).unref()
  }

  /** Tries in between change nothing: what clients are told must not flicker. */
  #become(
    state: SessionState['state'],
    reason: string | undefined,
    url: string,
    first?: () => void,
  ): void {
    const before = this.#state
    this.#state = { url, state, ...(reason === undefined ? {} : { reason }) }
    if (first !== undefined) this.#tell(first)
    if (before.state === state && before.reason === reason && before.url === url) return
    this.#tell(() => {
      this.#observer.onState()
    })
  }

  #failureOf(end: SessionEnd): Failure {
    return {
      url: this.#displayUrl(),
      isRejection: end.kind === 'refused',
      reason: reasonOf(end, this.#options.auth.secret),
    }
  }

  #displayUrl(): string {
    return displayUrl(this.#options.urls[this.#at] ?? '')
  }

  readonly #tell = guarded(
    (run: () => void) => {
      run()
    },
    (error) => {
      this.#log.error('an observer of a WAMP link failed', { error })
    },
  )
}
