// Where the webhook is reached and whose certificate it shows in; the ValidatingWebhookConfiguration out. It may
// never stand in the way: what is not judged in 3 s goes in unjudged, and its conditions tell all the same.

import type { ValueMap } from '../../spec/expression/value.ts'
import { GROUP } from '../resource/resource.ts'

export const VALIDATE_PATH = '/validate'

/** Its name within the configuration, and in what kubectl prints of a refusal. */
const WEBHOOK_NAME = `validate.${GROUP}`

export type WebhookTarget =
  | {
      readonly service: {
        readonly namespace: string
        readonly name: string
        /** 443 when absent. */
        readonly port?: number
      }
    }
  /** `https://host:port`, for an operator outside of the cluster. */
  | { readonly url: string }

export interface WebhookConfigurationOptions {
  readonly name: string
  readonly target: WebhookTarget
  /** PEM. */
  readonly caBundle: string
  /** Of documents and realms. */
  readonly namespaces: readonly string[] | 'all'
}

export const webhookConfiguration = (options: WebhookConfigurationOptions): ValueMap => {
  const { name, target, caBundle, namespaces } = options
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'svc-gateway' } },
    webhooks: [
      {
        name: WEBHOOK_NAME,
        clientConfig: { ...clientOf(target), caBundle: encodeBundle(caBundle) },
        rules: [
          {
            apiGroups: [GROUP],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['apispecifications', 'realms'],
            scope: 'Namespaced',
          },
        ],
        ...(namespaces !== 'all' && { namespaceSelector: within(namespaces) }),
        failurePolicy: 'Ignore',
        timeoutSeconds: 3,
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }
}

export const encodeBundle = (pem: string): string => Buffer.from(pem).toString('base64')

const clientOf = (target: WebhookTarget): ValueMap =>
  'url' in target
    ? { url: `${target.url.replace(/\/$/, '')}${VALIDATE_PATH}` }
    : { service: { port: 443, ...target.service, path: VALIDATE_PATH } }

const within = (namespaces: readonly string[]): ValueMap => ({
  matchExpressions: [
    { key: 'kubernetes.io/metadata.name', operator: 'In', values: [...namespaces] },
  ],
})
