// What one case of the bridge's contract is: the bridge is used as the actions use it, against a router and
// peers that share no code with it, and what is observed must be the same whatever the router does.

import type { SerializerName } from '../../../dataplane/wamp/protocol/messages.ts'
import { openRawPeer, type RawPeer, type RawPeerOptions } from '../../support/raw-wamp-peer.ts'
import { OPEN_REALM } from '../../support/routers/router-config.ts'
import type {
  RouterName,
  RouterSuite,
  RouterUnderTest,
} from '../../support/routers/router-under-test.ts'
import { ABLE_CALLEE } from '../router/contract-case.ts'
import { type BridgeRig, type BridgeRigOptions, startBridge } from './bridge-rig.ts'

export interface BridgeWire {
  readonly transport: 'ws' | 'rawsocket'
  readonly serializer: SerializerName
}

export interface BridgeContext {
  readonly router: RouterUnderTest
  readonly wire: BridgeWire
  /** Joined over that wire and shared by all cases of it: it must be as good after a case as before. */
  readonly rig: BridgeRig
  /** An independent session, JSON over RawSocket, shared by all cases. */
  readonly peer: RawPeer
  /** Of this case only. */
  readonly uri: string
  /** Another independent session, closed after the case; on the open realm, by RawSocket. */
  readonly open: (options?: Partial<RawPeerOptions>) => Promise<RawPeer>
  /** A bridge of this case, closed after it; joined already, unless `join` is false. */
  readonly bridge: (options?: BridgeRigOptions & { readonly join?: boolean }) => Promise<BridgeRig>
  /** Ends the sessions that cases share, `rig` and `peer` too: for those that count sessions. */
  readonly leaveAlone: () => Promise<void>
}

interface CaseBase {
  readonly name: string
  /** Plain data, to be compared. */
  readonly run: (context: BridgeContext) => Promise<unknown>
}

/** The bridge hides what routers differ in: where it can't, `each` says so. */
export type BridgeCase = CaseBase &
  ({ readonly same: unknown } | { readonly each: Readonly<Record<RouterName, unknown>> })

export interface BridgeRow {
  readonly title: string
  readonly expected: unknown
  readonly observe: () => unknown
}

/** One bridge per wire and one peer, opened at their first use and again after they were lost. */
export class SharedParts implements AsyncDisposable {
  readonly suite: RouterSuite
  readonly #rigs = new Map<string, BridgeRig>()
  #peer: Promise<RawPeer> | undefined

  constructor(suite: RouterSuite) {
    this.suite = suite
  }

  async rig(wire: BridgeWire): Promise<BridgeRig> {
    const key = `${wire.transport} ${wire.serializer}`
    const rig = this.#rigs.get(key) ?? startBridge(routerOf(this.suite.running(), wire))
    this.#rigs.set(key, rig)
    await rig.become('open')
    return rig
  }

  async peer(): Promise<RawPeer> {
    const open = (): Promise<RawPeer> =>
      openRawPeer({
        url: this.suite.running().rawsocket,
        realm: OPEN_REALM,
        roles: ABLE_CALLEE,
      })
    this.#peer ??= open()
    if ((await this.#peer).hasEnded) this.#peer = open()
    return await this.#peer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#rigs.values()].map((rig) => rig.close()))
    this.#rigs.clear()
    ;(await this.#peer)?.close()
    this.#peer = undefined
  }
}

const routerOf = (
  router: RouterUnderTest,
  { transport, serializer }: BridgeWire,
): BridgeRigOptions => ({ url: router[transport], serializers: [serializer] })

export const bridgeRows = (
  group: string,
  cases: readonly BridgeCase[],
  parts: SharedParts,
  wire: BridgeWire = { transport: 'rawsocket', serializer: 'json' },
): readonly BridgeRow[] =>
  cases.map((bridgeCase, index) => ({
    title: `${group}: ${bridgeCase.name}`,
    expected: 'same' in bridgeCase ? bridgeCase.same : bridgeCase.each[parts.suite.name],
    observe: async () => {
      const router = parts.suite.running()
      await using own = new AsyncDisposableStack()
      const open = async (options: Partial<RawPeerOptions> = {}): Promise<RawPeer> => {
        const standard = { url: router.rawsocket, realm: OPEN_REALM, roles: ABLE_CALLEE }
        return own.use(await openRawPeer({ ...standard, ...options }))
      }
      const bridge: BridgeContext['bridge'] = async ({ join = true, ...options } = {}) => {
        const rig = own.use(startBridge({ ...routerOf(router, wire), ...options }))
        if (join) await rig.become('open')
        return rig
      }
      const context = {
        router,
        wire,
        open,
        bridge,
        leaveAlone: () => parts[Symbol.asyncDispose](),
        rig: await parts.rig(wire),
        peer: await parts.peer(),
        uri: `com.example.bridge.${group.replaceAll(/\W+/g, '_')}.case${index}`,
      }
      return await bridgeCase.run(context)
    },
  }))
