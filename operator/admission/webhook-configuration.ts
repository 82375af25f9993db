// Builds the webhook configurations, which tell the API server where the webhooks are and which CA to trust. They must
// never block the cluster: an object that is not reviewed within 3 s is stored without review.

import type { ValueMap } from '../../language/expression/value.ts'
import { GROUP } from '../resource/resource.ts'
import { INJECT_LABEL } from './inject.ts'

export const VALIDATE_PATH = '/validate'
export const INJECT_PATH = '/inject'

/** Names within the configurations, which kubectl prints with a rejection. */
const WEBHOOK_NAME = `validate.${GROUP}`
const DELETE_WEBHOOK_NAME = `delete-realm.${GROUP}`
const POD_WEBHOOK_NAME = `inject-pod.${GROUP}`
const NAMESPACE_WEBHOOK_NAME = `inject-namespace.${GROUP}`

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
  /** Where documents, realms and sidecars may be. */
  readonly namespaces: readonly string[] | 'all'
  /** Reviews of the API server are recognised by it (review-key.ts); absent: they are validated without advice. */
  readonly reviewKey?: string | undefined
}

/** A resource with problems that was not reviewed gets them in its conditions all the same. */
export const webhookConfiguration = (options: WebhookConfigurationOptions): ValueMap => {
  const { name, namespaces, reviewKey } = options
  const path = reviewKey === undefined ? VALIDATE_PATH : `${VALIDATE_PATH}/${reviewKey}`
  const shared = {
    clientConfig: clientConfig(options, path),
    ...(namespaces !== 'all' && {
      namespaceSelector: { matchExpressions: [named('In', namespaces)] },
    }),
    ...UNOBTRUSIVE,
    sideEffects: 'None',
  }
  return {
    apiVersion: API_VERSION,
    kind: 'ValidatingWebhookConfiguration',
    metadata: metadataOf(name),
    webhooks: [
      {
        ...shared,
        name: WEBHOOK_NAME,
        rules: [ruleFor(['CREATE', 'UPDATE'], ['apispecifications', 'realms'])],
      },
      {
        ...shared,
        name: DELETE_WEBHOOK_NAME,
        rules: [ruleFor(['DELETE'], ['realms'])],
        // It only warns, which must not delay a deletion; the namespace controller would not read the warning.
        timeoutSeconds: 1,
        matchConditions: [{ name: 'somebody-reads-it', expression: NOT_THE_NAMESPACE_CONTROLLER }],
      },
    ],
  }
}

const NOT_THE_NAMESPACE_CONTROLLER =
  "request.userInfo.username != 'system:serviceaccount:kube-system:namespace-controller'"

const ruleFor = (operations: readonly string[], resources: readonly string[]): ValueMap => ({
  apiGroups: [GROUP],
  apiVersions: ['v1alpha1'],
  operations: [...operations],
  resources: [...resources],
  scope: 'Namespaced',
})

export interface InjectConfigurationOptions extends WebhookConfigurationOptions {
  /** The operator's own namespace: the operator must be able to start without itself. */
  readonly operatorNamespace: string
}

/** Two webhooks, because one can't select by a label of the pod or of its namespace; no pod is sent to both. */
export const injectConfiguration = (options: InjectConfigurationOptions): ValueMap => {
  const { name, namespaces, operatorNamespace } = options
  const places = [
    named('NotIn', ['kube-system', operatorNamespace]),
    ...(namespaces === 'all' ? [] : [named('In', namespaces)]),
  ]
  const shared = {
    clientConfig: clientConfig(options, INJECT_PATH),
    rules: [
      {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['pods'],
        scope: 'Namespaced',
      },
    ],
    ...UNOBTRUSIVE,
    // Creates the namespace's certificate, but not for a dry run.
    sideEffects: 'NoneOnDryRun',
    // Containers that other webhooks add later get their preStop wait too.
    reinvocationPolicy: 'IfNeeded',
  }
  return {
    apiVersion: API_VERSION,
    kind: 'MutatingWebhookConfiguration',
    metadata: metadataOf(name),
    webhooks: [
      {
        ...shared,
        name: POD_WEBHOOK_NAME,
        objectSelector: { matchLabels: { [INJECT_LABEL]: 'true' } },
        namespaceSelector: { matchExpressions: places },
      },
      {
        ...shared,
        name: NAMESPACE_WEBHOOK_NAME,
        objectSelector: {
          matchExpressions: [{ key: INJECT_LABEL, operator: 'NotIn', values: ['true', 'false'] }],
        },
        namespaceSelector: { matchLabels: { [INJECT_LABEL]: 'true' }, matchExpressions: places },
      },
    ],
  }
}

const API_VERSION = 'admissionregistration.k8s.io/v1'

const UNOBTRUSIVE = {
  failurePolicy: 'Ignore',
  timeoutSeconds: 3,
  matchPolicy: 'Equivalent',
  admissionReviewVersions: ['v1'],
}

const metadataOf = (name: string): ValueMap => ({
  name,
  labels: { 'app.kubernetes.io/part-of': 'svc-gateway' },
})

export const encodeBundle = (pem: string): string => Buffer.from(pem).toString('base64')

const clientConfig = (
  { target, caBundle }: WebhookConfigurationOptions,
  path: string,
): ValueMap => ({
  ...('url' in target
    ? { url: `${target.url.replace(/\/$/, '')}${path}` }
    : { service: { port: 443, ...target.service, path } }),
  caBundle: encodeBundle(caBundle),
})

const named = (operator: 'In' | 'NotIn', namespaces: readonly string[]): ValueMap => ({
  key: 'kubernetes.io/metadata.name',
  operator,
  values: [...namespaces],
})
