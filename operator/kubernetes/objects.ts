// Names the objects of the Kubernetes API as they are received: by the types of client-node, and unvalidated, since a
// server, a webhook's caller or a person may omit or misuse any member.

import type {
  DiscoveryV1EndpointPort,
  V1Container,
  V1CustomResourceDefinition,
  V1Endpoint,
  V1EndpointConditions,
  V1EndpointSlice,
  V1Lease,
  V1MutatingWebhook,
  V1MutatingWebhookConfiguration,
  V1ObjectMeta,
  V1Pod,
  V1PodSpec,
  V1PodStatus,
  V1Secret,
  V1Service,
  V1ServicePort,
  V1ServiceSpec,
  V1ValidatingWebhook,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node'
import type { Unvalidated } from '../../language/expression/members.ts'

export type Container = Unvalidated<V1Container>
export type CustomResourceDefinition = Unvalidated<V1CustomResourceDefinition>
export type Endpoint = Unvalidated<V1Endpoint>
export type EndpointConditions = Unvalidated<V1EndpointConditions>
export type EndpointSlice = Unvalidated<V1EndpointSlice>
export type Lease = Unvalidated<V1Lease>
export type ObjectMeta = Unvalidated<V1ObjectMeta>
export type Pod = Unvalidated<V1Pod>
export type PodSpec = Unvalidated<V1PodSpec>
export type PodStatus = Unvalidated<V1PodStatus>
/** A port of a Service or an EndpointSlice. */
export type Port = Unvalidated<V1ServicePort | DiscoveryV1EndpointPort>
export type Secret = Unvalidated<V1Secret>
export type Service = Unvalidated<V1Service>
export type ServiceSpec = Unvalidated<V1ServiceSpec>
export type Webhook = Unvalidated<V1MutatingWebhook | V1ValidatingWebhook>
export type WebhookConfiguration = Unvalidated<
  V1MutatingWebhookConfiguration | V1ValidatingWebhookConfiguration
>
