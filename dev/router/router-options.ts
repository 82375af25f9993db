// Defines the options of an embedded router.

export interface RouterOptions {
  readonly realms: readonly RealmOptions[]
  /** 127.0.0.1 */
  readonly host?: string
  /** 0, any free one. */
  readonly webSocketPort?: number
  /** 0, any free one. */
  readonly rawSocketPort?: number
  /** Larger messages of a client end its session; larger ones for it are not sent; 16 MiB. */
  readonly maxMessageBytes?: number
  /** Unread bytes of one client; beyond this its connection is dropped; 64 MiB. */
  readonly maxQueuedBytes?: number
}

export interface RealmOptions {
  readonly uri: string
  /** Whether anyone may join, with role `client`; false. */
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
