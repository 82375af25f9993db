// Defines what the operator uses of a Kubernetes API server, and nothing more: the interface that hides client-node and
// HTTP. Types, and the one error that it throws.

import { CodedError } from '../../../base/coded-error.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

/** A kind as the API serves it. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced: boolean
}

/** Those that Kubernetes itself defines; for other kinds, callers make a ResourceType. */
export const TYPES = {
  secrets: core('secrets', 'Secret'),
  configMaps: core('configmaps', 'ConfigMap'),
  pods: core('pods', 'Pod'),
  services: core('services', 'Service'),
  endpointSlices: namespaced('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice'),
  namespaces: { ...core('namespaces', 'Namespace'), isNamespaced: false },
  leases: namespaced('coordination.k8s.io', 'v1', 'leases', 'Lease'),
  events: namespaced('events.k8s.io', 'v1', 'events', 'Event'),
  customResourceDefinitions: {
    ...namespaced(
      'apiextensions.k8s.io',
      'v1',
      'customresourcedefinitions',
      'CustomResourceDefinition',
    ),
    isNamespaced: false,
  },
  validatingWebhookConfigurations: webhooks('validating', 'Validating'),
  mutatingWebhookConfigurations: webhooks('mutating', 'Mutating'),
} as const satisfies Readonly<Record<string, ResourceType>>

/** @example {namespace: 'default', name: 'shop'}; the namespace of a cluster-scoped object is '' */
export interface ObjectName {
  readonly namespace: string
  readonly name: string
}

/** Which objects: a namespace or, without one, all of them. */
export interface Scope {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ListOptions extends Scope {
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Only the metadata of each object is requested. */
  readonly onlyMetadata?: boolean
}

export interface ObjectList {
  readonly resourceVersion: string
  /** For the next page. */
  readonly continue?: string
  /** With `apiVersion` and `kind`, which a list of the API leaves out. */
  readonly items: readonly ValueMap[]
}

export interface WatchOptions extends Scope {
  readonly resourceVersion: string
  /** The server ends the watch after it. */
  readonly timeoutSeconds: number
  /** The server has accepted the watch: an event may come much later. */
  readonly onOpen?: () => void
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ValueMap }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

export interface WriteOptions {
  readonly subresource?: 'status'
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Fields of other managers are taken over; true if left out, otherwise they are a 409 with its causes. */
  readonly force?: boolean
  /** Everything is checked, by admission too, and nothing is stored. */
  readonly dryRun?: boolean
  /** Members that the API server does not know are a 400; they are dropped if left out. */
  readonly fieldValidation?: 'Strict'
  /** What comes back; `metadata` if left out. */
  readonly returns?: 'object' | 'metadata'
  /** Called for each warning that the API server adds to a success. */
  readonly onWarning?: (text: string) => void
}

/** Every call throws ApiError, or the reason of `signal`. */
export interface KubernetesApi {
  get(type: ResourceType, name: ObjectName): Promise<ValueMap>
  list(type: ResourceType, options: ListOptions, signal?: AbortSignal): Promise<ObjectList>
  /**
   * Requests bookmarks. Ends when the server ends it; an ERROR event, a line that is not JSON, and silence for longer
   * than bookmarks allow are thrown as ApiError (410 where the version is too old).
   */
  watch(
    type: ResourceType,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterableIterator<WatchEvent>
  create(type: ResourceType, namespace: string, object: ValueMap): Promise<ValueMap>
  /** Compare and swap: 409 unless `metadata.resourceVersion` is the current one. */
  replace(type: ResourceType, name: ObjectName, object: ValueMap): Promise<ValueMap>
  /** Server-side apply; only metadata comes back unless `returns` says otherwise. */
  apply(
    type: ResourceType,
    name: ObjectName,
    object: ValueMap,
    options: ApplyOptions,
  ): Promise<ValueMap>
  /** JSON merge patch (RFC 7386). */
  patch(
    type: ResourceType,
    name: ObjectName,
    patch: ValueMap,
    options?: WriteOptions,
  ): Promise<ValueMap>
  /** @param uid of the object that is meant: if another one has the name by now, it is a 409 */
  delete(type: ResourceType, name: ObjectName, uid?: string): Promise<void>
  /**
   * Calls back at the first success after none for seconds, so that callers that wait to try again need not wait any
   * longer. Where requests got no response at all, those still under way on older connections are broken off a moment
   * later, watches too.
   * @returns ends it
   */
  onReturn(listener: () => void): () => void
  close(): Promise<void>
}

/** What callers decide by: the status in words. */
export type ApiErrorCode =
  | 'no_response' // or none that could be read
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'request_timeout'
  | 'conflict'
  | 'expired' // the version that was asked for is too old
  | 'too_many_requests'
  | 'rejected' // any other status below 500
  | 'server_error' // 500 and more

/** What the API server holds against one member of an object. */
export interface ApiErrorCause {
  /** `FieldManagerConflict`, `FieldValueInvalid`, …; '' where there is none. */
  readonly reason: string
  /** @example .spec.document.host */
  readonly field: string
  /** Empty where it may quote a Secret. */
  readonly message: string
}

/** A response that is not a success, or none. */
export class ApiError extends CodedError<ApiErrorCode> {
  /** HTTP; 0: there was no response. */
  readonly status: number
  /** The reason of the Status object: `NotFound`, `Conflict`, `Expired`, …; '' where there was none. */
  readonly reason: string
  readonly causes: readonly ApiErrorCause[]
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    facts: {
      readonly status: number
      readonly reason?: string
      readonly causes?: readonly ApiErrorCause[]
      readonly retryAfterMs?: number | undefined
      readonly cause?: unknown
    },
  ) {
    super(codeOf(facts.status), message, { cause: facts.cause })
    this.status = facts.status
    this.reason = facts.reason ?? ''
    this.causes = facts.causes ?? []
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** @example isApiError(error, 'not_found') */
export const isApiError = (error: unknown, ...codes: readonly ApiErrorCode[]): error is ApiError =>
  error instanceof ApiError && codes.includes(error.code)

const CODES: Readonly<Record<number, ApiErrorCode>> = {
  0: 'no_response',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'request_timeout',
  409: 'conflict',
  410: 'expired',
  429: 'too_many_requests',
}

const codeOf = (status: number): ApiErrorCode =>
  CODES[status] ?? (status >= 500 ? 'server_error' : 'rejected')

function core(plural: string, kind: string): ResourceType {
  return namespaced('', 'v1', plural, kind)
}

function namespaced(group: string, version: string, plural: string, kind: string): ResourceType {
  return { group, version, plural, kind, isNamespaced: true }
}

function webhooks(head: string, kindHead: string): ResourceType {
  const plural = `${head}webhookconfigurations`
  const kind = `${kindHead}WebhookConfiguration`
  const type = namespaced('admissionregistration.k8s.io', 'v1', plural, kind)
  return { ...type, isNamespaced: false }
}
