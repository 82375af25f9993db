// Defines what a document is validated against: facts that stand outside it.

import type { ValueMap } from '../expression/value.ts'
import type { CredentialFacts } from './credentials.ts'
import type { SignatureFacts } from './signatures.ts'

export interface Environment {
  /** Facts of a realm; undefined: there is no such realm. */
  realm(uri: string): RealmFacts | undefined
  /** From Secrets: laid over the document's own `variables` by name. */
  readonly variables?: ValueMap
  /**
   * Names of variables from Secrets whose values are withheld, so that what is folded may be shown: reads of them wait, as
   * those of a request do, and print as they were written.
   */
  readonly withheld?: readonly string[]
}

export interface RealmFacts {
  readonly authmethods: readonly string[]
  /** Names of `info.oidc_providers`. */
  readonly oidcProviders: readonly string[]
  /** undefined: not known. */
  readonly hasUsers?: boolean
  /** undefined: not known. */
  readonly hasApiKeys?: boolean
  /** Facts by name of the signature. Left out: not known. */
  readonly signatures?: Readonly<Record<string, SignatureFacts>> | undefined
  /** Whether it trusts issuers of tokens. */
  readonly hasIssuers?: boolean
  /** `oauth2.grants`; undefined: all. */
  readonly grants?: readonly string[] | undefined
  /** Whether a user of it is in the group that may ask for tokens at the token endpoint; undefined: not known. */
  readonly hasClients?: boolean
  /** Whether it has a WAMP router; undefined: not known. */
  readonly hasRouter?: boolean
  /** Whether its record gives `signing_keys`. */
  readonly hasSigningKeys?: boolean
  /** Facts by name of the credential. Left out: not known, so that documents may name any. */
  readonly credentials?: Readonly<Record<string, CredentialFacts>> | undefined
  /** Whether its router has a WebSocket address, to which `/ws` of versions is carried; undefined: not known. */
  readonly hasWebSocket?: boolean
  /** Several replicas serve it, and each signs with keys of its own. */
  readonly isSignedApart?: boolean
  /** The gateway trusts no proxy and reads no PROXY headers: a client has the address of its connection. */
  readonly hasConnectionsAlone?: boolean
  /** The gateway has no Redis: what it counts and remembers, other gateways do not know. */
  readonly countsAlone?: boolean
}
