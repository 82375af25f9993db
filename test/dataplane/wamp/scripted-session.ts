// Sessions whose router is a test: opened or joined, with all that they told. Nothing is checked here.

import { expect } from '@jest/globals'
import { loadAutobahn } from '../../../dataplane/wamp/session/autobahn.ts'
import { createAuthentication } from '../../../dataplane/wamp/session/authentication.ts'
import {
  openSession,
  type OpenSession,
  type SessionEnd,
} from '../../../dataplane/wamp/session/session.ts'
import type {
  CallHandler,
  SessionAuth,
  WampSession,
} from '../../../dataplane/wamp/session/joined-session.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { scriptTransports, type ScriptedTransport } from './scripted-transport.ts'

export const autobahn = await loadAutobahn()

export interface Opened {
  readonly opened: OpenSession
  readonly transport: ScriptedTransport
  readonly ends: SessionEnd[]
  readonly warnings: unknown[]
  readonly errors: unknown[]
  readonly joined: WampSession[]
}

export const begin = (auth: SessionAuth = { method: 'anonymous' }, realmUri = 'com.r'): Opened => {
  const ends: SessionEnd[] = []
  const joined: WampSession[] = []
  const warnings: unknown[] = []
  const errors: unknown[] = []
  const transports = scriptTransports()
  const opened = openSession(
    {
      autobahn,
      openTransport: transports.openTransport,
      target: {
        url: 'ws://router/',
        serializers: ['json'],
        keepaliveMs: 0,
        connectTimeoutMs: 5000,
        maxMessageBytes: 1000,
      },
      realmUri,
      authentication: createAuthentication(auth),
      log: {
        ...createSilentLog(),
        warn: (_message, fields) => warnings.push(fields),
        error: (_message, fields) => errors.push(fields),
      },
    },
    { onJoined: (session) => joined.push(session), onEnd: (end) => ends.push(end) },
  )
  return { opened, transport: transports.last, ends, joined, warnings, errors }
}

export interface Joined extends Opened {
  readonly session: WampSession
}

export const join = (): Joined => {
  const opened = begin()
  opened.transport.welcome()
  opened.transport.sent.length = 0
  const [session] = opened.joined
  if (session === undefined) throw new Error('not joined')
  return { ...opened, session }
}

export type Told = [string, unknown]

export const listen = (told: Told[] = []): { handler: Required<CallHandler>; told: Told[] } => ({
  told,
  handler: {
    onResult: (result) => told.push(['result', result]),
    onFailure: (error) => told.push(['failure', error.uri]),
    onProgress: (result) => told.push(['progress', result.args]),
  },
})

export const plainly = (handler: CallHandler): CallHandler => ({
  onResult: (result) => {
    handler.onResult(result)
  },
  onFailure: (error) => {
    handler.onFailure(error)
  },
})

export const request = (more: object = {}) => ({
  procedure: 'com.p',
  args: [] as readonly Value[],
  kwargs: {} as ValueMap,
  options: {} as ValueMap,
  ...more,
})

export const startCall = (session: WampSession, more: object = {}) => {
  const { handler, told } = listen()
  const pending = session.call(request(more), plainly(handler))
  return { pending, told }
}

export const endedWith = (kind: string, uri: string) => [expect.objectContaining({ kind, uri })]
export const VIOLATION = 'wamp.error.protocol_violation'
