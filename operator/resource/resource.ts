// Defines the kinds of resources that the operator reads, as both sources (Kubernetes, manifests) deliver them:
// checked, immutable, with the place where a person finds them. Types and keys only.

import type { Quarantined } from '../../compiler/bounded-compiler.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type { TypeOf } from '../../language/schema/realm-notation.ts'
import type { API_SPECIFICATION_SPEC, VARIABLE_SOURCE } from './api-specification-schema.ts'
import type { Condition } from './condition.ts'
import type { ALLOWED_NAMESPACES, LABEL_SELECTOR } from './realm-spec-schema.ts'
import { DEFAULT_CLASS, type KEY_REFERENCE } from './resource-schema.ts'

export const GROUP = 'gateway.svc.dev'
export const API_VERSION = `${GROUP}/v1alpha1`

/** Annotations that the operator reads. */
export const ANNOTATIONS = {
  /** `"true"` on an ApiSpecification or Realm: what serves stays; a newer spec is validated, not put. */
  paused: `${GROUP}/paused`,
  /** `"true"` on a Realm that is being deleted: no data plane serves it for a moment longer. */
  deleteNow: `${GROUP}/delete-now`,
  /** On a Namespace: the hosts that its documents may claim, wildcards among them (host-grants.ts). */
  hosts: `${GROUP}/hosts`,
  /** On a Namespace: `own` or `any`, where in the cluster its documents may lead (destination-policies.ts). */
  destinations: `${GROUP}/destinations`,
  /** On a Namespace: how much of the gateways it may take, in place of the operator's settings (namespace-quotas.ts). */
  quota: `${GROUP}/quota`,
  /** `off` on a Service: gateways reach it by its own address (service-facts.ts). */
  endpoints: `${GROUP}/endpoints`,
} as const

export type Kind = 'ApiSpecification' | 'Realm' | 'Secret' | 'ConfigMap' | 'Namespace'

export type Resource =
  ApiSpecificationResource | RealmResource | SecretResource | ConfigMapResource | NamespaceResource

export interface Metadata {
  readonly name: string
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  /** Grows with every change of `spec`. */
  readonly generation: number
  /** Unix time, milliseconds. */
  readonly createdAt: number
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** Where a person finds the resource; absent when it came from an API server. */
export interface Origin {
  readonly file: string
  /** First line is 1. */
  readonly line: number
  /** First column is 1. */
  readonly column: number
}

interface ResourceBase {
  readonly metadata: Metadata
  readonly origin?: Origin
}

/** What the guards left of `spec`: usable, or every problem with its pointer (`/spec/…`). */
export type CheckedSpec<T> = { readonly spec: T } | { readonly problems: readonly Problem[] }

/** The version of a document that data planes were last seen to have loaded. */
export interface ProgrammedVersion {
  readonly generation: number
  readonly digest: string
}

/** What a status shows of a document at a glance, in columns of `kubectl get`. */
export interface DocumentSummary {
  readonly id?: string
  readonly host?: string
  readonly realm?: string
  /** The oldest generation that a ready gateway has loaded, `–` where none has any, `?` where it is not known which. */
  readonly serving: string
  /** `2/2`: how many of those that should have the wanted version are ready and have it; `–` where none should. */
  readonly gateways: string
}

/** In a `DocumentSummary`. */
export const NONE_SERVES = '–'

/** A kind of which each operator reads its own class only. */
interface Classed {
  /** `gatewayClassName`, known also where the rest of the spec can't be read. */
  readonly className?: string
}

/** What an operator wrote into `status` before. Absent in files, whose status is not believed. */
interface Recorded {
  /** Which operator did: its namespace and Lease. */
  readonly writtenBy?: string
  /** Empty: no operator has validated the resource yet. */
  readonly conditions?: readonly Condition[]
  readonly errors?: readonly Problem[]
  readonly warnings?: readonly Warning[]
}

export interface ApiSpecificationResource extends ResourceBase, Classed, Recorded {
  readonly kind: 'ApiSpecification'
  readonly checked: CheckedSpec<ApiSpecificationSpec>
  readonly programmed?: ProgrammedVersion
  readonly summary?: DocumentSummary
  /** What an operator found too expensive to compile. */
  readonly quarantined?: Quarantined
}

export interface RealmResource extends ResourceBase, Classed, Recorded {
  readonly kind: 'Realm'
  readonly checked: CheckedSpec<RealmSpec>
}

/** Values are bytes in base64, as the API server has them. Never logged, never shown. */
export interface SecretResource extends ResourceBase, Excerpt {
  readonly kind: 'Secret'
  readonly data: Readonly<Record<string, string>>
}

/** An object of which only what is referred to stays in memory. */
interface Excerpt {
  /** Some of the keys that it has beside those that are kept, for a person who looks for one. */
  readonly otherKeys?: readonly string[]
}

export interface ConfigMapResource extends ResourceBase, Excerpt {
  readonly kind: 'ConfigMap'
  readonly data: Readonly<Record<string, string>>
  /** Base64. */
  readonly binaryData: Readonly<Record<string, string>>
}

/** Read for its labels: a Realm may admit namespaces by selector. */
export interface NamespaceResource extends ResourceBase {
  readonly kind: 'Namespace'
}

export type KeyReference = TypeOf<typeof KEY_REFERENCE>

/** Exactly one of `document` and `documentFrom` is there; `gatewayClassName` is `svc` when absent. */
export type ApiSpecificationSpec = TypeOf<typeof API_SPECIFICATION_SPEC>

/** One key of a Secret as the variable `name`; without `name` and `key`, every key under its own name. */
export type VariableSource = TypeOf<typeof VARIABLE_SOURCE>

/** Behaviour §7 in camelCase (realm-spec-schema.ts), who may use the realm, and its `gatewayClassName`. */
export interface RealmSpec extends ValueMap {
  readonly uri: string
}

/** `from` is `Same` when absent. */
export type AllowedNamespaces = TypeOf<typeof ALLOWED_NAMESPACES>

export type LabelSelector = TypeOf<typeof LABEL_SELECTOR>

export type LabelExpression = NonNullable<LabelSelector['matchExpressions']>[number]

/** @example resourceKey('Realm', 'default', 'shop') // 'Realm/default/shop' */
export const resourceKey = (kind: Kind, namespace: string, name: string): string =>
  `${kind}/${namespace}/${name}`

export const keyOf = (resource: Resource): string =>
  resourceKey(resource.kind, resource.metadata.namespace, resource.metadata.name)

/** A resource whose class is missing or can't be read counts as one of the default class. */
export const isOfClass = (
  { className = DEFAULT_CLASS }: ApiSpecificationResource | RealmResource,
  wanted: string,
): boolean => className === wanted

/** Only the text `true` pauses. */
export const isPaused = (resource: Resource): boolean => isAnnotated(resource, ANNOTATIONS.paused)

/** Whether the resource is to be revoked at once when it is deleted. */
export const isToBeDeletedNow = (resource: Resource): boolean =>
  isAnnotated(resource, ANNOTATIONS.deleteNow)

const isAnnotated = ({ metadata: { annotations } }: Resource, name: string): boolean =>
  Object.hasOwn(annotations, name) && annotations[name] === 'true'

/** Oldest first; of one age, by namespace and name, as the Gateway API orders. */
export const byAge = (left: Resource, right: Resource): number =>
  left.metadata.createdAt - right.metadata.createdAt ||
  compareText(fullName(left.metadata), fullName(right.metadata))

const fullName = (metadata: Metadata): string => `${metadata.namespace}/${metadata.name}`

const compareText = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0
