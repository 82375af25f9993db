// What an embedded router is told when it starts.

export interface RouterOptions {
  readonly realms: readonly RealmOptions[]
  /** 127.0.0.1 */
  readonly host?: string
  /** 0, any free one. */
  readonly webSocketPort?: number
  /** 0, any free one. */
  readonly rawSocketPort?: number
  /** Larger messages of a client end its session, larger ones are not sent to it; 16 MiB. */
  readonly maxMessageBytes?: number
  /** Of one client, that it has not read yet; beyond them its connection is dropped; 64 MiB. */
  readonly maxQueuedBytes?: number
}

export interface RealmOptions {
  readonly uri: string
  /** Anyone may join, as role `client`; false. */
  readonly anonymous?: boolean
  readonly users?: readonly RouterUser[]
  /** URIs that begin with one of them are answered with `wamp.error.not_authorized`. */
  readonly deny?: readonly string[]
}

export interface RouterUser {
  readonly authid: string
  readonly method: 'ticket' | 'wampcra' | 'cryptosign'
  /** For `cryptosign` the public key, 32 bytes in hex. */
  readonly secret: string
  readonly role: string
}
