// Names the objects of the Kubernetes API as they are received: by the types of client-node, and unvalidated, since a
// server, a webhook's caller or a person may leave out or misuse any member.

import type {
  V1Container,
  V1CustomResourceDefinition,
  V1Lease,
  V1MutatingWebhook,
  V1MutatingWebhookConfiguration,
  V1ObjectMeta,
  V1Pod,
  V1PodSpec,
  V1PodStatus,
  V1Secret,
  V1ValidatingWebhook,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node'
import type { Unvalidated } from '../../language/expression/members.ts'

export type Container = Unvalidated<V1Container>
export type CustomResourceDefinition = Unvalidated<V1CustomResourceDefinition>
export type Lease = Unvalidated<V1Lease>
export type ObjectMeta = Unvalidated<V1ObjectMeta>
export type Pod = Unvalidated<V1Pod>
export type PodSpec = Unvalidated<V1PodSpec>
export type PodStatus = Unvalidated<V1PodStatus>
export type Secret = Unvalidated<V1Secret>
export type Webhook = Unvalidated<V1MutatingWebhook | V1ValidatingWebhook>
export type WebhookConfiguration = Unvalidated<
  V1MutatingWebhookConfiguration | V1ValidatingWebhookConfiguration
>
