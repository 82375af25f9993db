// Defines what routing knows of a client that has joined a realm: who it is, what it can do, how to send to it. No
// sockets, no state of calls or subscriptions.

import type { WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import type { ValueMap } from '../../language/expression/value.ts'

/** As sent in WELCOME. */
export interface Identity {
  readonly authid: string
  readonly authrole: string
  readonly authmethod: string
  readonly authprovider: string
}

export interface Session {
  readonly id: number
  readonly identity: Identity
  /** What the client announced, as `callee.call_canceling`. */
  readonly features: ReadonlySet<string>
  /**
   * Never throws. False: its serializer can't encode the message, or it is larger than the client accepts. True also
   * when the client is gone, which is reported elsewhere.
   */
  send(message: WampMessage): boolean
  /** Sends GOODBYE and lets the connection end. */
  end(reason: string, message?: string): void
}

/** The details of a caller or publisher that asked for them with `disclose_me`. */
export const disclosed = (role: 'caller' | 'publisher', { id, identity }: Session): ValueMap => ({
  [role]: id,
  [`${role}_authid`]: identity.authid,
  [`${role}_authrole`]: identity.authrole,
})
