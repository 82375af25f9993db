// Opens as many links as the plan of a realm asks for, and gives out their joined sessions in turn. It reconnects
// nothing, which is the links' work, and never throws.

import type { SessionState } from '../../../language/wire/wire.ts'
import type { BridgeSetup } from './bridge-setup.ts'
import type { RealmPlan } from './link-plan.ts'
import type { Link, LinkObserver, WampSession } from '../session/joined-session.ts'

export interface PoolObserver {
  onJoined(session: WampSession): void
  onLost(session: WampSession): void
  onState(): void
  /** A link has failed to open a session, and backs off. */
  onBackOff(): void
}

interface Member {
  link: Link | undefined
  session: WampSession | undefined
}

/** An open link is about to report its session. */
const HOPEFUL: ReadonlySet<SessionState['state']> = new Set(['connecting', 'open'])

export class RealmPool {
  readonly #setup: BridgeSetup
  readonly #plan: RealmPlan
  readonly #members: readonly Member[]
  #joined: readonly WampSession[] = []
  #next = 0
  #hasJoined = false
  #closing: Promise<void> | undefined

  constructor(setup: BridgeSetup, plan: RealmPlan) {
    this.#setup = setup
    this.#plan = plan
    this.#members = Array.from({ length: plan.pool }, () => ({
      link: undefined,
      session: undefined,
    }))
  }

  /** Returns at once. The observer may be notified within the call. */
  open(observer: PoolObserver): void {
    for (const member of this.#members) {
      try {
        member.link = this.#setup.openLink(this.#plan.link, this.#watch(member, observer))
      } catch (error) {
        const { realmUri } = this.#plan.link
        this.#setup.log.error('a link to a router could not be opened', { realm: realmUri, error })
      }
    }
  }

  get joined(): readonly WampSession[] {
    return this.#joined
  }

  /** The next joined session, round robin. */
  pick(): WampSession | undefined {
    if (this.#next >= this.#joined.length) this.#next = 0
    return this.#joined[this.#next++]
  }

  /** A link has joined, or may still do so at its first attempt. */
  get isHopeful(): boolean {
    return this.#members.some(
      ({ link, session }) =>
        session !== undefined || link === undefined || HOPEFUL.has(link.state.state),
    )
  }

  /** A session has joined at least once. */
  get hasJoined(): boolean {
    return this.#hasJoined
  }

  /** A link without a session has an attempt in progress, or its first one after the end of a session is due. */
  get isOpening(): boolean {
    return this.#members.some(
      ({ link, session }) => link !== undefined && session === undefined && !link.isBackingOff,
    )
  }

  states(): readonly SessionState[] {
    return this.#members.flatMap(({ link }) =>
      link === undefined ? [] : [withoutUserInfo(link.state)],
    )
  }

  /** Closes every link, all at the same time. Never rejects; idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    this.#joined = []
    await Promise.allSettled(this.#members.map(async ({ link }) => link?.close()))
  }

  #watch(member: Member, observer: PoolObserver): LinkObserver {
    const isOver = (): boolean => this.#closing !== undefined
    const lose = (): void => {
      const { session } = member
      if (session === undefined) return
      member.session = undefined
      this.#joined = this.#joined.filter((joined) => joined !== session)
      observer.onLost(session)
    }
    return {
      onJoined: (session) => {
        if (isOver()) return
        lose()
        member.session = session
        this.#hasJoined = true
        this.#joined = [...this.#joined, session]
        observer.onJoined(session)
      },
      onLost: () => {
        if (!isOver()) lose()
      },
      onState: () => {
        if (!isOver()) observer.onState()
      },
      onBackOff: () => {
        if (!isOver()) observer.onBackOff()
      },
    }
  }
}

/** No user name and password of the address. */
const withoutUserInfo = ({ url, state, reason }: SessionState): SessionState => ({
  url: url.replace(/^([^/]*\/\/)[^/?#]*@/, '$1'),
  state,
  ...(reason !== undefined && { reason }),
})
