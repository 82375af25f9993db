// Defines the rights that the operator needs, as a role for each duty, and what people of a namespace may do with our
// kinds. It is data for kubectl, the chart and tests, and binds no role to any subject.

import type { ValueMap } from '../../language/expression/value.ts'
import { crdNames } from './crd.ts'
import { GROUP } from './resource.ts'

/**
 * Where a duty is done:
 * - `cluster`: its objects are in no namespace
 * - `resources`: in the namespaces of documents and realms
 * - `services`: there, too, unless gateways are to reach Services by their own address
 * - `pods`: there, as sidecars may be anywhere, and in the namespaces of the shared pool
 * - `data planes`: in the namespaces of the shared pool alone
 * - `owner of Secrets`, `owner of ConfigMaps`: where the owner of a namespace has bound the role, and nowhere else
 * - `webhook`, `injection`: in no namespace, too; where the operator validates what is applied, where it adds sidecars
 * - `removal`: by an account of its own, while the operator is uninstalled, or has come to watch fewer namespaces
 */
export type DutyScope =
  | 'cluster'
  | 'resources'
  | 'services'
  | 'pods'
  | 'data planes'
  | 'owner of Secrets'
  | 'owner of ConfigMaps'
  | 'webhook'
  | 'injection'
  | 'removal'

export interface Duty {
  /** The name of its ClusterRole. */
  readonly name: string
  readonly description: string
  readonly scope: DutyScope
  readonly rules: readonly Rule[]
}

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly Verb[]
  readonly resourceNames?: readonly string[]
}

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

const READ = ['get', 'list', 'watch'] as const
const PLURALS = ['apispecifications', 'realms'] as const
const CORE = ''

/** What the owner of a namespace binds to let the operator read its Secrets. */
export const SECRET_READER = 'svc-gateway-secret-reader'

/** What the owner of a namespace binds to let the operator read its ConfigMaps. */
export const CONFIGMAP_READER = 'svc-gateway-configmap-reader'

/** What the owner of a namespace binds to have the gateways in it, its sidecars, get their certificate. */
export const CERTIFICATE_WRITER = 'svc-gateway-certificate-writer'

/** The Secret with that certificate. */
export const DATA_PLANE_SECRET = 'svc-gateway-management-tls'

/** The webhook configurations, of either kind, that the operator makes and whose CA bundle it writes. */
export const WEBHOOK_CONFIGURATION = 'svc-gateway'

/** The roles of the account that runs `svc-operator uninstall`: in the cluster, and in the operator's namespace. */
export const UNINSTALLER = 'svc-gateway-uninstaller'
export const OWN_UNINSTALLER = 'svc-gateway-own-uninstaller'

/** The role of that account, and of the one that runs `svc-operator release`. */
export const RELEASER = 'svc-gateway-releaser'

/** The Secret from which the keys of Realms that give none are made. */
export const REALM_KEYS_SECRET = 'svc-gateway-realm-keys'

/** Secrets of the operator itself, in its own namespace: the CA, its client and webhook certificates, keys of realms. */
export const OPERATOR_SECRETS = [
  'svc-gateway-ca',
  'svc-gateway-operator-tls',
  'svc-gateway-webhook-tls',
  REALM_KEYS_SECRET,
] as const

const REMOVE_CONFIGURATIONS: Rule = {
  apiGroups: ['admissionregistration.k8s.io'],
  resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
  verbs: ['get', 'delete'],
  resourceNames: [WEBHOOK_CONFIGURATION],
}

export const DUTIES: readonly Duty[] = [
  {
    name: 'svc-gateway-resource-reader',
    description: 'Read documents and realms.',
    scope: 'resources',
    rules: [{ apiGroups: [GROUP], resources: PLURALS, verbs: READ }],
  },
  {
    name: 'svc-gateway-status-writer',
    description: 'Write the status of documents and realms; never their spec.',
    scope: 'resources',
    rules: [
      {
        apiGroups: [GROUP],
        resources: PLURALS.map((plural) => `${plural}/status`),
        verbs: ['patch'],
      },
    ],
  },
  {
    name: 'svc-gateway-pod-reader',
    description: 'Find the pods of gateways.',
    scope: 'pods',
    rules: [{ apiGroups: [CORE], resources: ['pods'], verbs: READ }],
  },
  {
    name: 'svc-gateway-service-reader',
    description:
      'Find the Pods of the Services that documents name as hosts; each Service is asked for by its name.',
    scope: 'services',
    rules: [
      { apiGroups: [CORE], resources: ['services'], verbs: READ },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
    ],
  },
  {
    name: 'svc-gateway-event-writer',
    description: 'Write Events about documents, realms and gateway pods.',
    scope: 'pods',
    rules: [{ apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] }],
  },
  {
    name: 'svc-gateway-namespace-reader',
    description: 'Read the labels of namespaces, which realms admit by, and their annotations.',
    scope: 'cluster',
    rules: [{ apiGroups: [CORE], resources: ['namespaces'], verbs: READ }],
  },
  {
    name: 'svc-gateway-crd-reader',
    description:
      'See whether the custom resource definitions exist: while they do not, nothing is deleted.',
    scope: 'cluster',
    rules: [
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        verbs: READ,
        resourceNames: crdNames(),
      },
    ],
  },
  {
    name: 'svc-gateway-webhook-configurer',
    description:
      'Create our webhook configuration, by its name, and write into it which CA it may trust.',
    scope: 'webhook',
    rules: [configurationRule('validatingwebhookconfigurations')],
  },
  {
    name: 'svc-gateway-injection-configurer',
    // With the right to write such a configuration one can change everything that is created in the cluster.
    description: 'The same for the configuration by which Pods get a gateway beside them.',
    scope: 'injection',
    rules: [configurationRule('mutatingwebhookconfigurations')],
  },
  {
    name: 'svc-gateway-webhook-remover',
    description:
      'Remove our webhook configurations, by their name: that for Pods when sidecars are turned off, both when the webhook is.',
    scope: 'cluster',
    rules: [REMOVE_CONFIGURATIONS],
  },
  {
    name: CERTIFICATE_WRITER,
    description: 'Issue the certificate of the gateways of a namespace. Reads no other Secret.',
    scope: 'data planes',
    rules: certificateRules([DATA_PLANE_SECRET]),
  },
  {
    name: SECRET_READER,
    description:
      'Read the Secrets that documents and realms name. Bound by the owner of a namespace.',
    scope: 'owner of Secrets',
    rules: [{ apiGroups: [CORE], resources: ['secrets'], verbs: READ }],
  },
  {
    name: CONFIGMAP_READER,
    description:
      'Read the ConfigMaps that documentFrom names; each is asked for by its name. Bound by the owner of a namespace.',
    scope: 'owner of ConfigMaps',
    rules: [{ apiGroups: [CORE], resources: ['configmaps'], verbs: READ }],
  },
  {
    name: UNINSTALLER,
    description:
      'Remove the certificates of gateways, by their name in all namespaces, and our webhook configurations.',
    scope: 'removal',
    rules: [
      {
        apiGroups: [CORE],
        resources: ['secrets'],
        // A list is limited to the name too: it has to ask for that one.
        verbs: ['list', 'delete'],
        resourceNames: [DATA_PLANE_SECRET],
      },
      REMOVE_CONFIGURATIONS,
    ],
  },
  {
    name: RELEASER,
    description:
      'Write into the status of documents and realms that their operator has released them.',
    scope: 'removal',
    rules: [
      { apiGroups: [GROUP], resources: PLURALS, verbs: ['get', 'list'] },
      {
        apiGroups: [GROUP],
        resources: PLURALS.map((plural) => `${plural}/status`),
        verbs: ['patch'],
      },
    ],
  },
  {
    name: OWN_UNINSTALLER,
    description: 'Take the Lease from the operator and remove it, and the Secrets of the operator.',
    scope: 'removal',
    rules: [
      {
        apiGroups: [CORE],
        resources: ['secrets'],
        verbs: ['get', 'delete'],
        resourceNames: OPERATOR_SECRETS,
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['get', 'list', 'create', 'update', 'delete'],
      },
    ],
  },
]

/** Made by server-side apply: that is asked for by name, other than a POST. */
function configurationRule(plural: string): Rule {
  return {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: [plural],
    verbs: ['get', 'create', 'patch'],
    resourceNames: [WEBHOOK_CONFIGURATION],
  }
}

/** A Secret is made under any name: RBAC can't restrict that. So it is never granted in all namespaces at once. */
export function certificateRules(names: readonly string[]): readonly Rule[] {
  return [
    { apiGroups: [CORE], resources: ['secrets'], verbs: ['create'] },
    { apiGroups: [CORE], resources: ['secrets'], verbs: ['get', 'update'], resourceNames: names },
  ]
}

/**
 * Added to the roles that every cluster has. Realms are the admin's alone, like roles and bindings: they say
 * who may log in and whose documents may attach.
 */
const PEOPLE = [
  { of: 'view', resources: PLURALS, verbs: READ },
  {
    of: 'edit',
    resources: ['apispecifications'],
    verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
  },
  {
    of: 'admin',
    resources: ['realms'],
    verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
  },
] as const

/** Every ClusterRole, the same in each cluster, without bindings. */
export const clusterRoles = (): readonly ValueMap[] => [
  ...DUTIES.map(({ name, description, rules }) =>
    clusterRole({ name, annotations: { description } }, rules),
  ),
  ...PEOPLE.map(({ of, resources, verbs }) =>
    clusterRole(
      {
        name: `svc-gateway-${of}`,
        labels: { [`rbac.authorization.k8s.io/aggregate-to-${of}`]: 'true' },
      },
      [{ apiGroups: [GROUP], resources, verbs }],
    ),
  ),
]

const clusterRole = (metadata: ValueMap, rules: readonly Rule[]): ValueMap => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata,
  rules: rules.map(ruleObject),
})

export const ruleObject = ({ apiGroups, resources, verbs, resourceNames }: Rule): ValueMap => ({
  apiGroups: [...apiGroups],
  resources: [...resources],
  ...(resourceNames !== undefined && { resourceNames: [...resourceNames] }),
  verbs: [...verbs],
})
