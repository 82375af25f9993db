// What one case of the contract is: something is done to a router by peers that are no part of the gateway,
// and what is observed is the same on all routers, or differs in a way that the gateway must live with.

import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { MESSAGE, type WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import {
  NothingCameError,
  openRawPeer,
  type RawPeer,
  type RawPeerOptions,
} from '../../support/raw-wamp-peer.ts'
import { OPEN_REALM } from '../../support/routers/router-config.ts'
import type { RouterName, RouterUnderTest } from '../../support/routers/router-under-test.ts'
import { outcomeOf, type ReplyPlan } from '../../support/wamp-peer.ts'

export interface CaseContext {
  readonly router: RouterUnderTest
  /** Shared by all cases, JSON over RawSocket: cases that may lose their session open one of their own. */
  readonly caller: RawPeer
  /** As `caller`, JSON over WebSocket. */
  readonly callee: RawPeer
  /** Of this case only. */
  readonly uri: string
  /** A session of this case, closed after it; JSON over RawSocket on the open realm unless told otherwise. */
  readonly open: (options?: Partial<RawPeerOptions>) => Promise<RawPeer>
}

interface CaseBase {
  readonly name: string
  /** Plain data, to be compared. */
  run(context: CaseContext): Promise<unknown>
}

/** `same`: what all routers do. `each`: what each of them does. */
export type ContractCase = CaseBase &
  ({ readonly same: unknown } | { readonly each: Readonly<Record<RouterName, unknown>> })

/** Sessions that are opened at their first use and again after they were lost. */
class SharedPeers {
  readonly #running: () => RouterUnderTest
  #peers: Promise<readonly [caller: RawPeer, callee: RawPeer]> | undefined

  constructor(running: () => RouterUnderTest) {
    this.#running = running
  }

  async both(): Promise<readonly [caller: RawPeer, callee: RawPeer]> {
    const peers = await (this.#peers ??= this.#open())
    if (!peers.some((peer) => peer.hasEnded)) return peers
    this.#peers = this.#open()
    return await this.#peers
  }

  #open(): Promise<[RawPeer, RawPeer]> {
    const { ws, rawsocket } = this.#running()
    return Promise.all([
      openRawPeer({ url: rawsocket, realm: OPEN_REALM, roles: ABLE_CALLER }),
      openRawPeer({ url: ws, realm: OPEN_REALM, roles: ABLE_CALLEE }),
    ])
  }
}

export const ABLE_CALLER: ValueMap = {
  caller: { features: { call_canceling: true, progressive_call_results: true } },
  callee: {},
  publisher: {},
  subscriber: {},
}

export const ABLE_CALLEE: ValueMap = {
  caller: {},
  callee: {
    features: {
      caller_identification: true,
      progressive_call_results: true,
      call_canceling: true,
      pattern_based_registration: true,
      shared_registration: true,
    },
  },
  publisher: {},
  subscriber: { features: { publisher_identification: true, pattern_based_subscription: true } },
}

/** A case of a group, as a row of `it.each`. */
export interface ContractRow {
  readonly title: string
  readonly expected: unknown
  readonly observe: () => unknown
}

export const rowsOf = (
  group: string,
  cases: readonly ContractCase[],
  { name, running }: { readonly name: RouterName; readonly running: () => RouterUnderTest },
): readonly ContractRow[] => {
  const peers = new SharedPeers(running)
  return cases.map((contractCase, index) => ({
    title: `${group}: ${contractCase.name}`,
    expected: 'same' in contractCase ? contractCase.same : contractCase.each[name],
    observe: async () => {
      const [caller, callee] = await peers.both()
      const router = running()
      await using own = new AsyncDisposableStack()
      const open = async (options: Partial<RawPeerOptions> = {}): Promise<RawPeer> => {
        const standard = { url: router.rawsocket, realm: OPEN_REALM, roles: ABLE_CALLER }
        return own.use(await openRawPeer({ ...standard, ...options }))
      }
      const uri = `com.example.${group.replaceAll(/\W+/g, '_')}.case${index}`
      return await contractCase.run({ router, caller, callee, uri, open })
    },
  }))
}

export type Reaction = ReplyPlan | 'not answered' | 'session dropped' | { readonly abort: string }

const NO_PROCEDURE = 'com.example.there.is.no.such.procedure'

export interface Asking {
  /** `peer.send(request)` otherwise. */
  readonly sendIt?: () => void
  /** What is called behind the request: a procedure of the same callee where the request is a call. */
  readonly behind?: string
}

/**
 * Sends a request and, right behind it, a call that is always answered. Nothing overtakes between two sessions:
 * when that response has come and the other has not, none will come.
 */
export const reactionTo = async (
  peer: RawPeer,
  request: WampMessage,
  { sendIt, behind }: Asking = {},
): Promise<Reaction> => {
  if (sendIt === undefined) peer.send(request)
  else sendIt()
  return await responseSoFar(peer, request, behind)
}

/** The response to what was sent before, if there will be one. */
export const responseSoFar = async (
  peer: RawPeer,
  request: WampMessage,
  behind = NO_PROCEDURE,
): Promise<Reaction> => {
  try {
    await peer.ask([MESSAGE.call, peer.nextId(), {}, behind])
    // RawSocket ends after that answer, or before: a session that still answers has not ended.
    await peer.ask([MESSAGE.call, peer.nextId(), {}, NO_PROCEDURE])
  } catch {
    return endOf(peer)
  }
  return await peer.responseTo(request, 0).then(outcomeOf, () => 'not answered')
}

const endOf = (peer: RawPeer): Reaction => {
  const abort = peer.unread.find(([type]) => type === MESSAGE.abort)
  return abort === undefined
    ? 'session dropped'
    : { abort: textIn({ uri: abort[2] ?? null }, 'uri') }
}

/** The URI of an error; what is none stays. */
export const errorOf = (observed: unknown): unknown =>
  typeof observed === 'object' && observed !== null && 'error' in observed
    ? observed.error
    : observed

/**
 * nexus throws away what is still queued when it closes a connection, its ABORT or GOODBYE too (websocketPeer.Close):
 * where a connection ended without a word, the word is asked for again.
 */
const ATTEMPTS = 5

/** @param ask opens the session whose last word it wants */
export const askAgain = async <T>(ask: () => Promise<T>, attempts = ATTEMPTS): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NothingCameError && attempts > 1) return askAgain(ask, attempts - 1)
    throw error
  }
}

/** What a session became: the ABORT's URI where the router refused. */
export const joinReason = (join: () => Promise<RawPeer>): Promise<string> =>
  askAgain(async () => {
    try {
      const peer = await join()
      return `joined as ${textIn(peer.welcome, 'authrole')}`
    } catch (error) {
      if (error instanceof Error && 'uri' in error && typeof error.uri === 'string')
        return error.uri
      throw error
    }
  })

export const textIn = (map: unknown, key: string): string => {
  const value = isMap(map) && Object.hasOwn(map, key) ? map[key] : undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
