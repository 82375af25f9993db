// What routing knows of a client that has joined a realm: who it is, what it can do, how to tell it something.
// No sockets, no state of calls or subscriptions.

import type { WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import type { ValueMap } from '../../language/expression/value.ts'

/** As WELCOME tells it. */
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
   * Never throws. False: its serializer can't carry the message or it is larger than the client takes. True also
   * when the client is gone: its end is told otherwise.
   */
  send(message: WampMessage): boolean
  /** Says GOODBYE and lets the connection end. */
  end(reason: string, message?: string): void
}

/** What the other side of a call or publication learns of who asked for that with `disclose_me`. */
export const disclosed = (role: 'caller' | 'publisher', { id, identity }: Session): ValueMap => ({
  [role]: id,
  [`${role}_authid`]: identity.authid,
  [`${role}_authrole`]: identity.authrole,
})
