// Carries the handshake of a WebSocket through the exchange of an ordinary request, up to the 101 of an upstream, and then
// hands the connection to the relays. Not a byte of the client goes on before that.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { asError } from '../../../base/thrown.ts'
import type { SwitchedPeer } from '../../actions/performer.ts'
import type { RelayEnd, RelayPermit, Relays } from '../../wamp/relay/relays.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { ServedVersion } from '../../served.ts'
import type { WebSocketOffer } from '../../web-socket-switch.ts'
import type { ConnectionUpgrade, IncomingRequest, UpgradedExchange } from '../incoming-request.ts'
import type { Envelope } from '../response/own-headers.ts'
import { type EarlyBytes, readEarly } from './early-bytes.ts'
import { readOffer } from './handshake.ts'
import { switchHead } from './switch-head.ts'

export interface ClientUpgradeOptions {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** The bytes that came behind the request. */
  readonly head: Buffer
  readonly relays: Pick<Relays, 'claim' | 'carry'>
  readonly from: string | undefined
  /** Why the connection of a version ends now, with the credentials that opened it; undefined: it goes on. */
  readonly whyOver: (subject: UpgradedOperation) => () => RelayEnd | undefined
}

/** What a connection was opened by. */
export interface UpgradedOperation {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly version: ServedVersion
  readonly shape: UpgradedExchange['operation']['shape']
}

export class ClientUpgrade implements ConnectionUpgrade {
  readonly #options: ClientUpgradeOptions
  readonly #early: EarlyBytes
  #offer: WebSocketOffer | undefined
  #permit: RelayPermit | undefined

  constructor(options: ClientUpgradeOptions) {
    const { socket, head } = options
    this.#options = options
    this.#early = readEarly(socket, head, () => {
      // Its response closes with it, which ends what was begun for it.
      socket.destroy()
    })
    socket.once('close', this.#onClosed)
  }

  readonly #onClosed = (): void => {
    this.#permit?.release()
  }

  /** Once it was admitted. */
  get offer(): WebSocketOffer | undefined {
    return this.#offer
  }

  /** @returns why it is refused: the handshake is none, or there are too many connections */
  admit(realmUri: string): Error | undefined {
    const { request, relays, from } = this.#options
    try {
      const offer = readOffer(request)
      const permit = relays.claim({ realmUri, from })
      if (permit instanceof GatewayError) return permit
      this.#permit = permit
      this.#offer = offer
      return undefined
    } catch (error) {
      return asError(error)
    }
  }

  /** Sends the 101, and passes on what either end sends. @returns false: the client has disconnected */
  open(
    peer: SwitchedPeer,
    { incomingRequest, operation, response, envelope }: UpgradedExchange,
  ): boolean {
    const { socket: client, relays } = this.#options
    const permit = this.#permit
    const clientHead = this.#early.take()
    if (permit === undefined || this.#early.hasGone || client.destroyed) return false
    // What an open connection needs no more is not retained by it.
    client.off('close', this.#onClosed)
    if (response.socket !== null) response.detachSocket(response.socket)
    client.write(switchingProtocols(peer, envelope), 'latin1')
    const ends = { client, clientHead, peer: peer.socket, peerHead: peer.head }
    const { version, shape } = operation
    relays.carry(permit, ends, {
      whyOver: this.#options.whyOver({ incomingRequest, version, shape }),
    })
    return true
  }
}

/** What the upstream has chosen was proven; the rest of its head was read strictly, and is sent on as of any response. */
const switchingProtocols = ({ chosen, headers }: SwitchedPeer, envelope: Envelope): string => {
  const others = headers.filter(
    ([name]) => !name.startsWith('sec-websocket-') && name !== 'content-length',
  )
  return switchHead(chosen, others, envelope)
}
