// Lets a worker call its primary: to release what another worker may have, and to use the state that all of them
// share.

import type { BridgePeers, DurableName } from './process-status.ts'
import type { ToPrimary, ToWorker } from './message.ts'
import type { ClusterPeer } from './peer.ts'
import {
  answerCall,
  type PrimaryState,
  type SharedCall,
  type SharedReply,
} from '../../shared/relayed-state.ts'

type Reply = Extract<ToWorker, { readonly ask: number }>
type Question = Extract<ToPrimary, { readonly ask: number }>

/** A primary that does not reply is stuck: logins and tokens wait no longer than this for it. */
const SHARE_TIMEOUT_MS = 5000

/** The worker's side. A release without a reply: the primary is gone, and the worker will end soon. */
export interface PrimaryLine extends BridgePeers {
  /** Rejects if there is no reply in time. */
  share(call: SharedCall): Promise<SharedReply>
  /** Call it with every reply that arrives. */
  receive(message: Reply): void
}

export const askPrimary = (
  send: (message: ToPrimary) => unknown,
  shareTimeoutMs = SHARE_TIMEOUT_MS,
): PrimaryLine => {
  const releases = new Map<number, (found: boolean) => void>()
  const shares = new Map<number, (reply: SharedReply) => void>()
  let next = 1
  return {
    statusChanged: (status) => {
      send({ kind: 'bridge', status })
    },
    healthChanged: (health) => {
      send({ kind: 'health', health })
    },
    providersChanged: (failing) => {
      send({ kind: 'providers', failing })
    },
    credentialsChanged: (failing) => {
      send({ kind: 'credentials', failing })
    },
    releaseElsewhere: (name) =>
      new Promise((resolve) => {
        releases.set(next, resolve)
        send({ kind: 'release', ask: next++, name })
      }),
    share: (call) =>
      new Promise((resolve, reject) => {
        const ask = next++
        const timer = setTimeout(() => {
          shares.delete(ask)
          reject(new Error('The primary process did not reply in time'))
        }, shareTimeoutMs)
        shares.set(ask, (reply) => {
          clearTimeout(timer)
          resolve(reply)
        })
        send({ kind: 'shared', ask, call })
      }),
    receive: (message) => {
      if (message.kind === 'released') releases.get(message.ask)?.(message.found)
      else shares.get(message.ask)?.(message.reply)
      releases.delete(message.ask)
      shares.delete(message.ask)
    },
  }
}

/** A router may take time to end a registration. */
const RELEASE_TIMEOUT_MS = 10_000
/** A worker that does not even acknowledge is about to be replaced. */
const REVOKE_TIMEOUT_MS = 2000

/** The primary's side. Never rejects. */
export const answerWorker = async (
  from: ClusterPeer,
  question: Question,
  peers: Iterable<ClusterPeer>,
  state: PrimaryState,
): Promise<void> => {
  const { ask } = question
  const others = [...peers].filter((peer) => peer !== from)
  const reply: Reply =
    question.kind === 'release'
      ? { kind: 'released', ask, found: await release(others, question.name) }
      : { kind: 'shared', ask, reply: await share(others, question.call, state) }
  if (!from.isGone) from.worker.send(reply)
}

const release = async (others: readonly ClusterPeer[], name: DurableName): Promise<boolean> => {
  const found = await Promise.all(others.map((peer) => peer.release(name, RELEASE_TIMEOUT_MS)))
  return found.includes(true)
}

/** The calling worker has recorded the revocation itself. */
const share = async (
  others: readonly ClusterPeer[],
  call: SharedCall,
  state: PrimaryState,
): Promise<SharedReply> => {
  const reply = await answerCall(state, call)
  if (call.kind !== 'revoke') return reply
  const entry = [call.key, call.untilUnixSeconds] as const
  await Promise.all(others.map((peer) => peer.sendRevoked([entry], REVOKE_TIMEOUT_MS)))
  return reply
}
