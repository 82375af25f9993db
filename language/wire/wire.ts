// Defines the messages between operator and data plane over the management API (architecture, *Management API*).
// Additive to specification §4.2.

import type { ValueMap } from '../expression/value.ts'
import type { Problem, Warning } from '../problem.ts'
import type { RealmRecord } from '../realm/record.ts'

/** `GET /api_specs?view=state`; `ETag` is the quoted `<bootId>-<version>`. */
export interface StateView {
  readonly bootId: string
  /** Grows with every change of what is loaded. */
  readonly version: number
  /** The version of the program, `1.4.0`; a gateway that does not send it is older than this member. */
  readonly gatewayVersion?: string
  readonly manager: string | null
  readonly epoch: number
  /** Over this owner's loaded entries: see `rootDigest` in digest.ts. */
  readonly rootDigest: string
  /** A sync call with a matching `complete` was accepted in this boot. */
  readonly complete: boolean
  readonly specs: Readonly<Record<string, SpecState>>
  readonly realms: Readonly<Record<string, RealmState>>
  /** Problems by id of the document, 200 at most; a gateway that is older than this member sends none. */
  readonly upstreams?: Readonly<Record<string, UpstreamProblem>>
}

/** An upstream that the document names has given no proper response for at least 30 s. */
export interface UpstreamProblem {
  /** `http://orders:8080` */
  readonly origin: string
  /** The cause of the last failure. */
  readonly cause: UpstreamCause
}

const GONE_CAUSES = ['no_service', 'no_endpoints'] as const

export type GoneCause = (typeof GONE_CAUSES)[number]

export const UPSTREAM_CAUSES = [
  'refused',
  /** The operator says that the Service does not exist, or has no Pod that takes requests. */
  ...GONE_CAUSES,
  'dns',
  'tls',
  /** It is not an allowed destination. */
  'denied',
  'connect_timeout',
  'timeout',
  'reset',
  'malformed',
  'status_502',
  'status_503',
  'status_504',
] as const

export type UpstreamCause = (typeof UPSTREAM_CAUSES)[number]

export interface SpecState {
  readonly digest: string
  /** null: loaded by hand. */
  readonly managedBy: string | null
  /**
   * The resource of a document with an owner: as it was put, empty if it was put without. A gateway that does not send it is older
   * than this member.
   */
  readonly resource?: string
  readonly warnings: readonly Warning[]
}

export interface RealmState {
  readonly digest: string
  readonly managedBy: string | null
  /** Router sessions; empty while the realm has no router or no document. */
  readonly sessions: readonly SessionState[]
  /** Left out where there are none; a gateway that is older than this member sends none. */
  readonly failingProviders?: readonly FailingProvider[]
  /** Left out where there are none; a gateway that is older than this member sends none. */
  readonly failingCredentials?: readonly FailingCredential[]
}

/** An identity provider of the realm whose discovery has failed for at least 30 s. */
export interface FailingProvider {
  /** Its name in the realm. */
  readonly provider: string
  /** The cause of the last failure. */
  readonly cause: ProviderCause
  /** What the provider sent in place of what was expected: its issuer, or a status. */
  readonly found?: string
}

export const PROVIDER_CAUSES = [
  'refused',
  'dns',
  'tls',
  /** It is not an allowed destination. */
  'denied',
  'timeout',
  /** It closed the connection, or sent what is not HTTP. */
  'reset',
  /** Its issuer, or an endpoint that it names, is http, which the realm does not allow. */
  'plain_http',
  /** A status other than 200. */
  'status',
  /** Its metadata is not JSON, too large, or lacks an endpoint. */
  'metadata',
  /** Its metadata names another issuer. */
  'issuer',
] as const

export type ProviderCause = (typeof PROVIDER_CAUSES)[number]

/** A credential of the realm that requests can't be sent with now, or will soon not be. */
export interface FailingCredential extends CredentialProblem {
  /** Its name in the realm. */
  readonly credential: string
}

export interface CredentialProblem {
  readonly cause: CredentialCause
  /** A status, an error code of OAuth 2.0, or a time. */
  readonly found?: string
}

export const CREDENTIAL_CAUSES = [
  'refused',
  'dns',
  'tls',
  /** The token endpoint is not an allowed destination. */
  'denied',
  'timeout',
  /** It closed the connection, or sent what is not HTTP. */
  'reset',
  /** A status that is neither a token nor an error of OAuth 2.0. */
  'status',
  /** What it sent is no token that can stand in a header. */
  'response',
  /** It does not accept the client and its secret. */
  'invalid_client',
  /** Another error of OAuth 2.0. */
  'oauth_error',
  /** The certificate, its key or its CAs can't be read, or are not for each other. */
  'certificate_invalid',
  'certificate_expired',
  /** It is not valid yet. */
  'certificate_early',
  /** It expires soon: requests are still sent with it. */
  'certificate_ends',
] as const

export type CredentialCause = (typeof CREDENTIAL_CAUSES)[number]

export interface SessionState {
  readonly url: string
  readonly state: (typeof SESSION_STATES)[number]
  readonly reason?: string
}

export const SESSION_STATES = ['connecting', 'open', 'waiting', 'refused'] as const

/** `POST /api_specs/_sync`. */
export interface SyncRequest {
  readonly managedBy: string
  readonly epoch: number
  /** Root digest that the difference was computed from. */
  readonly base: string
  readonly realms?: {
    readonly put?: readonly RealmPut[]
    readonly delete?: readonly string[]
  }
  readonly specs?: {
    readonly put?: readonly SpecPut[]
    readonly delete?: readonly string[]
  }
  /** Root digest expected after this call. */
  readonly complete?: string
}

export interface RealmPut {
  readonly uri: string
  readonly digest: string
  readonly realm: RealmRecord
  /** See `SpecPut`. */
  readonly critical?: readonly string[]
}

export interface SpecPut {
  readonly id: string
  readonly digest: string
  /** Unix time, milliseconds: the age that decides conflicts. */
  readonly since: number
  /** `namespace/name` of the resource that it comes from, for metrics. The digest does not differ with it. */
  readonly resource?: string
  readonly spec: ValueMap
  /** From Secrets: laid over the document's own `variables`, never read back. */
  readonly variables?: ValueMap
  /**
   * Namespace of the document where it may reach, of all that is in the cluster, only Services of that namespace. The
   * digest differs with it.
   */
  readonly confinedTo?: string
  /**
   * Credentials of its realm that the document may use, of those that its forwards name; it is there where they name
   * any. The digest differs where it may not use them all.
   */
  readonly credentials?: readonly string[]
  /**
   * JSON pointers into this entry, to members that its reader may not ignore (as `crit` of RFC 7515 §4.1.11): a gateway
   * that does not know one of them rejects the entry. Other unknown members are ignored. members.ts says which are
   * which.
   */
  readonly critical?: readonly string[]
}

export interface SyncReply {
  readonly rootDigest: string
  readonly items: readonly SyncItem[]
  /** Absent where the call has changed more of the state view than `items` tell; older gateways never send it. */
  readonly state?: StateStep
}

/** `ETag`s of the state view: a client that has read the one before a call can derive the one after it from the response. */
export interface StateStep {
  readonly before: string
  readonly after: string
}

export interface SyncItem {
  /** Document id, or realm uri. */
  readonly id: string
  readonly kind: 'spec' | 'realm'
  readonly result: 'loaded' | 'unchanged' | 'rejected' | 'deleted'
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/**
 * `POST /service_endpoints`: the Pods behind the Services that documents name. Separate from the sync: no digest
 * includes it, and a gateway that restarts has nothing until it is called again.
 */
export interface EndpointsRequest {
  readonly managedBy: string
  /** As in a sync call. */
  readonly epoch: number
  /** Identifies the leader term whose calls `sequence` counts. */
  readonly sender: string
  /** Grows with each call: a call that a later one has overtaken is rejected. */
  readonly sequence: number
  readonly put?: readonly ServiceEndpoints[]
  /** Services that are no longer sent: `namespace/name`. */
  readonly delete?: readonly string[]
  /** All Services that there are: a gateway drops the others. */
  readonly only?: readonly string[]
}

/** One Service, whole: it replaces what was sent of it before. */
export interface ServiceEndpoints {
  /** `namespace/name` */
  readonly service: string
  /** Its own addresses (`clusterIPs`): the rest is used only where its name resolves to these. */
  readonly addresses: readonly string[]
  readonly ports: readonly ServicePortEndpoints[]
  /** It was deleted; `addresses` are those that it had. Older gateways connect to them. */
  readonly isAbsent?: true
}

export interface ServicePortEndpoints {
  /** The port of the Service. */
  readonly port: number
  /** Addresses by the port of the Pods, which may have different ones. */
  readonly targets: readonly { readonly port: number; readonly addresses: readonly string[] }[]
  /** No Pod is behind it that takes requests; without this, no targets mean that the Service's own address is used. */
  readonly isEmpty?: true
}

/** §2.14, and what behaviour §2 adds to it. */
export interface ErrorRecord {
  readonly code: string
  readonly message: string
  readonly description: string
  readonly errors?: readonly Problem[]
  /** Warnings of a document that was rejected, beside its errors. */
  readonly warnings?: readonly Warning[]
}

/** 409 of a sync call: a lower epoch than the one known, or a `complete` that does not match. */
export interface SyncRefusal extends ErrorRecord {
  readonly epoch?: number
  readonly rootDigest?: string
  readonly held?: Readonly<Record<string, string>>
}
