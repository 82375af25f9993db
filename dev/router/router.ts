// Starts a WAMP router on loopback, for the playground and for tests. Has the basic profile and the features that it
// announces; keeps everything in memory, never reads or writes a file.

import { LEAVE_MS, type ListenerNeeds } from './listener.ts'
import { listenForRawSockets } from './rawsocket-listener.ts'
import { createRouterCore } from './router-core.ts'
import type { RouterOptions } from './router-options.ts'
import { createRouterDeps } from './router-deps.ts'
import { listenForWebSockets } from './websocket-listener.ts'

export interface Router extends AsyncDisposable {
  /** `ws://127.0.0.1:PORT/` */
  readonly wsUrl: string
  /** `rs://127.0.0.1:PORT` */
  readonly rawSocketUrl: string
  /** Ends every session, with GOODBYE `wamp.close.system_shutdown` unless it is `hard`. Idempotent. */
  readonly close: (how?: { readonly hard?: boolean }) => Promise<void>
  /** Sends GOODBYE `wamp.close.killed`, or with that reason, to one session; false: the realm has no such session. */
  readonly killSession: (realmUri: string, sessionId: number, reason?: string) => boolean
  /** The ids of those who have joined. */
  readonly sessionIds: (realmUri: string) => readonly number[]
}

/**
 * @throws the error of `listen`, such as EADDRINUSE
 * @example
 * await using router = await startRouter({ realms: [{ uri: 'com.example.realm', anonymous: true }] })
 */
export const startRouter = async (options: RouterOptions): Promise<Router> => {
  const core = createRouterCore(options.realms, createRouterDeps())
  const needs: Omit<ListenerNeeds, 'port'> = {
    host: options.host ?? '127.0.0.1',
    maxMessageBytes: options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    maxQueuedBytes: options.maxQueuedBytes ?? DEFAULT_MAX_QUEUED_BYTES,
    accept: core.accept,
  }
  const webSockets = await listenForWebSockets({ ...needs, port: options.webSocketPort ?? 0 })
  const rawSocketNeeds = { ...needs, port: options.rawSocketPort ?? 0 }
  const rawSockets = await listenForRawSockets(rawSocketNeeds).catch(async (error: unknown) => {
    await webSockets.close(0)
    throw error
  })
  const close: Router['close'] = async ({ hard = false } = {}) => {
    if (!hard) core.shutDown()
    const leaveMs = hard ? 0 : LEAVE_MS
    await Promise.all([webSockets.close(leaveMs), rawSockets.close(leaveMs)])
  }
  return {
    wsUrl: webSockets.url,
    rawSocketUrl: rawSockets.url,
    close,
    killSession: (realmUri, sessionId, reason = 'wamp.close.killed') =>
      core.kill(realmUri, sessionId, reason),
    sessionIds: core.sessionIds,
    [Symbol.asyncDispose]: close,
  }
}

const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const DEFAULT_MAX_QUEUED_BYTES = 64 * 1024 * 1024
