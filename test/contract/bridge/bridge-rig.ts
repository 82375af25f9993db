// Opens a bridge to a router's address, with one realm and one document, as the gateway makes it, and records what it
// does as plain data.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { RouterRecord } from '../../../language/realm/record.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { createBridge } from '../../../dataplane/wamp/realm/bridge.ts'
import { createLinkOpener } from '../../../dataplane/wamp/session/link.ts'
import { createTransportOpener } from '../../../dataplane/wamp/transport/open-transport.ts'
import { createRouterDial } from '../../../dataplane/wamp/transport/router-dial.ts'
import type { Every } from '../../../dataplane/wamp/transport/keep-alive.ts'
import type { RealmBridgeStatus, WampClient } from '../../../dataplane/wamp/realm/wamp-client.ts'
import type { OpenTransport } from '../../../dataplane/wamp/protocol/transport.ts'
import {
  type OpenLink,
  type PendingCall,
  type WampEvent,
  WampError,
} from '../../../dataplane/wamp/session/joined-session.ts'
import type { Payload } from '../../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../../support/eventually.ts'
import { OPEN_REALM } from '../../support/routers/router-config.ts'

export interface BridgeRigOptions extends RouterRecord {
  readonly realmUri?: string
  /** Measures silence; by the system's clock when absent. */
  readonly every?: Every
  /** Told before the bridge is: what its link does from here on. */
  readonly onPhase?: (phase: LinkPhase) => void
}

/**
 * `opening`: an attempt, or the pause before the first one after a session; `back-off`: the pause after one that
 * failed.
 */
export type LinkPhase = 'opening' | 'open' | 'back-off'

export interface BridgeRig extends AsyncDisposable {
  readonly client: WampClient
  readonly status: () => RealmBridgeStatus
  readonly sessions: () => readonly SessionState[]
  /** Resolves when the realm's sessions are all in that state. */
  readonly become: (state: SessionState['state']) => Promise<void>
  readonly close: () => Promise<void>
}

export const startBridge = ({
  realmUri = OPEN_REALM,
  every,
  onPhase = () => undefined,
  ...router
}: BridgeRigOptions): BridgeRig => {
  const log = createSilentLog()
  const openTransport = createTransportOpener({
    dial: createRouterDial([]),
    ...(every && { every }),
  })
  const bridge = createBridge({
    openLink: tellPhases(onPhase, openTransport, (open) =>
      createLinkOpener({ openTransport: open, log, random: Math.random }),
    ),
    log,
    onStatus: () => undefined,
    releaseElsewhere: () => Promise.resolve(false),
  })
  bridge.follow({
    put: [{ id: 'contract', realmUri, versions: [{}] }],
    remove: [],
    realms: { put: [{ uri: realmUri, router }], delete: [] },
  })
  const status = (): RealmBridgeStatus => {
    const [realm] = bridge.status()
    if (realm === undefined) throw new Error('the bridge has no sessions for its realm')
    return realm
  }
  const sessions = (): readonly SessionState[] => status().sessions
  return {
    client: bridge.clientOf(realmUri),
    status,
    sessions,
    become: (state) =>
      eventually(
        () => {
          const now = sessions()
          if (now.some((session) => session.state !== state))
            throw new Error(`not all are ${state}: ${JSON.stringify(now)}`)
        },
        { everyMs: 5, withinMs: 20_000 },
      ),
    close: () => bridge.close(),
    [Symbol.asyncDispose]: () => bridge.close(),
  }
}

const tellPhases = (
  onPhase: (phase: LinkPhase) => void,
  openTransport: OpenTransport,
  createOpener: (openTransport: OpenTransport) => OpenLink,
): OpenLink => {
  const openLink = createOpener((...opened) => {
    onPhase('opening')
    return openTransport(...opened)
  })
  return (options, observer) =>
    openLink(options, {
      onJoined: (session) => {
        onPhase('open')
        observer.onJoined(session)
      },
      onLost: () => {
        onPhase('opening')
        observer.onLost()
      },
      onBackOff: () => {
        onPhase('back-off')
        observer.onBackOff()
      },
      onState: () => {
        observer.onState()
      },
    })
}

/** What became of an operation; empty parts and texts for people are left out. */
export type Settled =
  | { readonly args?: Value; readonly kwargs?: ValueMap }
  | { readonly error: string; readonly args?: Value; readonly kwargs?: ValueMap }

export interface Asking extends Partial<Payload> {
  readonly options?: ValueMap
}

const partsOf = ({ args, kwargs }: Payload): Settled => ({
  ...(args.length > 0 && { args }),
  ...(Object.keys(kwargs).length > 0 && { kwargs }),
})

const errorParts = (error: unknown): Settled => {
  if (!(error instanceof WampError)) throw error
  return { error: error.uri, ...partsOf(error) }
}

/** Counts how often a call is settled: it must be once. */
export interface RunningCall {
  readonly settled: Promise<Settled>
  readonly progress: readonly Payload[]
  /** Of the response. */
  readonly details: () => ValueMap
  readonly times: () => number
  readonly cancel: () => void
}

export const startCall = (
  client: WampClient,
  procedure: string,
  { args = [], kwargs = {}, options = {} }: Asking = {},
  takesProgress = false,
): RunningCall => {
  const progress: Payload[] = []
  const done = Promise.withResolvers<Settled>()
  let details: ValueMap = {}
  let times = 0
  const settle = (settled: Settled): void => {
    times += 1
    done.resolve(settled)
  }
  let pending: PendingCall | undefined
  try {
    pending = client.call(
      { procedure, args, kwargs, options },
      {
        onResult: (result) => {
          ;({ details } = result)
          settle(partsOf(result))
        },
        onFailure: (error) => {
          settle(errorParts(error))
        },
        ...(takesProgress && {
          onProgress: (result) => {
            progress.push({ args: result.args, kwargs: result.kwargs })
          },
        }),
      },
    )
  } catch (fault) {
    settle(errorParts(fault))
  }
  return {
    settled: done.promise,
    progress,
    details: () => details,
    times: () => times,
    cancel: () => pending?.cancel(),
  }
}

export const callBy = (client: WampClient, procedure: string, asking?: Asking): Promise<Settled> =>
  startCall(client, procedure, asking).settled

/** What came to the router by this session has been dealt with, and what it sent before has come. */
export const roundTrip = async ({ client }: Pick<BridgeRig, 'client'>): Promise<void> => {
  await callBy(client, 'com.example.nobody.at.all')
}

/** The value, or the fault's parts. */
export const settledBy = async <T>(doing: Promise<T>): Promise<T | Settled> => {
  try {
    return await doing
  } catch (error) {
    return errorParts(error)
  }
}

/** What a follower of a topic is told, in order. */
export interface Followed {
  readonly told: string[]
  readonly events: WampEvent[]
  readonly end: () => void
  /** Resolves when `told` ends in that. */
  readonly until: (word: string) => Promise<void>
}

export const follow = async (
  client: WampClient,
  topic: string,
  options: ValueMap = {},
): Promise<Followed> => {
  const told: string[] = []
  const events: WampEvent[] = []
  const following = client.follow(topic, options, {
    onFollowed: () => told.push('followed'),
    onEvent: (event) => events.push(event),
    onInterrupted: () => told.push('interrupted'),
    onResumed: () => told.push('resumed'),
    onFailure: (error) => told.push(error.uri),
  })
  const until = (word: string): Promise<void> =>
    eventually(
      () => {
        if (told.at(-1) !== word) throw new Error(`told ${told.join(', ')} and not ${word}`)
      },
      { everyMs: 5, withinMs: 20_000 },
    )
  await eventually(() => {
    if (told.length === 0) throw new Error('a follower was told nothing')
  })
  return {
    told,
    events,
    until,
    end: () => {
      following.end()
    },
  }
}

/** 'pending' when nothing comes of it in that time. */
export const within = async <T>(ms: number, doing: Promise<T>): Promise<T | 'pending'> => {
  const late = new AbortController()
  try {
    return await Promise.race([
      doing,
      sleep(ms, 'pending' as const, { signal: late.signal, ref: false }),
    ])
  } finally {
    late.abort()
  }
}
