// Defines a request that was received and is not matched to a route yet, and what carries the handshake of a WebSocket.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Scheme } from '../../language/document.ts'
import type { SwitchedPeer } from '../actions/performer.ts'
import type { Holding } from '../memory/memory-budget.ts'
import type { Identity } from '../security/schemes/authentication.ts'
import type { ServedVersion } from '../served.ts'
import type { WebSocketOffer } from '../web-socket-switch.ts'
import type { OperationShape } from './operation-shape.ts'
import type { Client } from './request/forwarded.ts'
import type { RequestHead } from './request/head.ts'
import type { HeaderList } from './response/headers.ts'
import type { Envelope } from './response/own-headers.ts'

export interface IncomingRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly head: RequestHead
  readonly scheme: Scheme
  readonly client: Client | undefined
  readonly id: string
  readonly startedMs: number
  /** Set while the connection may be switched to a WebSocket. */
  readonly upgrade?: ConnectionUpgrade | undefined
  /** The caller, as soon as its credentials were accepted. */
  identity: Identity | undefined
  /** Its body, where who the caller is could be found out only by reading it. */
  body?: ReceivedBody
  /** Called with the status of the response. */
  onAnswered?: (status: number) => void
  /** Header fields that say what is left of the limits that have counted it; left out: none. */
  rateLimit?: HeaderList
}

export interface ReceivedBody {
  /** As they came. */
  readonly bytes: Buffer
  /** Pays for them. */
  readonly memory: Holding
}

/** What carries the handshake of a WebSocket up to its 101. */
export interface ConnectionUpgrade {
  readonly offer: WebSocketOffer | undefined
  admit(realmUri: string): Error | undefined
  open(peer: SwitchedPeer, exchange: UpgradedExchange): boolean
}

export interface UpgradedExchange {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly operation: {
    readonly version: ServedVersion
    readonly shape: { readonly guard: OperationShape['guard'] }
  }
  readonly response: ServerResponse
  readonly envelope: Envelope
}
