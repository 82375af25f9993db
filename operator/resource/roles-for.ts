// Builds the roles and bindings that let one operator serve its namespaces, and nothing more.

import type { ValueMap } from '../../language/expression/value.ts'
import { LEASE_FORMAT } from './lease-format.ts'
import {
  type CERTIFICATE_WRITER,
  certificateRules,
  clusterRoles,
  CONFIGMAP_READER,
  DUTIES,
  type Duty,
  type DutyScope,
  OPERATOR_SECRETS,
  OWN_UNINSTALLER,
  RELEASER,
  ruleObject,
  SECRET_READER,
  UNINSTALLER,
} from './roles.ts'

export interface OperatorAccount {
  readonly serviceAccount: string
  readonly operatorNamespace: string
}

export interface RolesOptions extends OperatorAccount {
  /** The namespaces of documents and realms. */
  readonly namespaces: readonly string[] | 'all'
  /** The namespaces of the gateways of the shared pool; the operator's own when absent. */
  readonly dataPlaneNamespaces?: readonly string[]
  /** With `--sidecar`. */
  readonly injection?: boolean
}

/**
 * ServiceAccount, ClusterRoles, the Role for the operator's own namespace, and the bindings. Nothing lets it
 * read Secrets or ConfigMaps: that is `grantCommand`, by the owner of each namespace.
 * @example rolesFor({serviceAccount: 'svc-operator', operatorNamespace: 'svc-gateway-system', namespaces: 'all'})
 * @internal for tests
 */
export const rolesFor = (options: RolesOptions): readonly ValueMap[] => [
  ...clusterRoles(),
  ...accountObjects(options),
]

/**
 * What of it belongs to one operator: `clusterRoles` are shared by all.
 * @internal written to crds/rbac/
 */
export const accountObjects = (options: RolesOptions): readonly ValueMap[] => [
  serviceAccount(options),
  freeLease(options),
  ownRole(options),
  binding(options, {
    role: { kind: 'Role', name: OWN_ROLE },
    namespace: options.operatorNamespace,
  }),
  ...DUTIES.flatMap((duty) => dutyBindings(options, duty)),
]

/**
 * For the account that runs `svc-operator uninstall`: never the operator's own, which may delete next to nothing.
 * @internal for tests
 */
export const uninstallerBindings = (account: OperatorAccount): readonly ValueMap[] => [
  binding(account, { role: { kind: 'ClusterRole', name: UNINSTALLER } }),
  ...releaserBindings(account),
  binding(account, {
    role: { kind: 'ClusterRole', name: OWN_UNINSTALLER },
    namespace: account.operatorNamespace,
  }),
]

/**
 * For the account that runs `svc-operator release`.
 * @internal for tests
 */
export const releaserBindings = (account: OperatorAccount): readonly ValueMap[] => [
  binding(account, { role: { kind: 'ClusterRole', name: RELEASER } }),
]

/** What only the owner of a namespace can give. */
export type Grant = typeof SECRET_READER | typeof CONFIGMAP_READER | typeof CERTIFICATE_WRITER

/**
 * The line with which the owner of a namespace gives it.
 * @example grantCommand({serviceAccount: 'svc-operator', operatorNamespace: 'gateways'}, SECRET_READER, 'shop')
 */
export const grantCommand = (
  { serviceAccount: name, operatorNamespace }: OperatorAccount,
  grant: Grant,
  namespace: string,
): string =>
  `kubectl create rolebinding ${grant} --namespace=${namespace} ` +
  `--clusterrole=${grant} --serviceaccount=${operatorNamespace}:${name}`

const READERS = { Secret: SECRET_READER, ConfigMap: CONFIGMAP_READER } as const

/** How the owner of a namespace lets the operator read its objects of a kind. */
export const readRemedy = (
  account: OperatorAccount,
  kind: keyof typeof READERS,
  namespace: string,
): string => `allow it with: ${grantCommand(account, READERS[kind], namespace)}`

/**
 * What that line makes.
 * @internal for tests
 */
export const grantObject = (
  account: OperatorAccount,
  grant: Grant,
  namespace: string,
): ValueMap => ({
  ...binding(account, { role: { kind: 'ClusterRole', name: grant }, namespace }),
  metadata: { name: grant, namespace },
})

/**
 * The line that lets the operator have a Secret of its own, where it has the rights of an older one.
 * @param creating it does not exist: the right to create can't be limited to a name
 */
export const ownSecretCommand = (
  { serviceAccount, operatorNamespace }: OperatorAccount,
  secret: (typeof OPERATOR_SECRETS)[number],
  { creating }: { readonly creating: boolean },
): string => {
  const role = creating ? 'svc-gateway-secret-creator' : `${secret}-reader`
  const what = creating ? '--verb=create' : `--verb=get,update --resource-name=${secret}`
  const where = `${role} --namespace=${operatorNamespace}`
  return (
    `kubectl create role ${where} ${what} --resource=secrets && kubectl create rolebinding ${where} ` +
    `--role=${role} --serviceaccount=${operatorNamespace}:${serviceAccount}`
  )
}

const dutyBindings = (options: RolesOptions, { name, scope }: Duty): readonly ValueMap[] => {
  const role = { kind: 'ClusterRole', name } as const
  const places = NAMESPACES[scope](options)
  if (places === 'cluster') return [binding(options, { role })]
  return places.map((namespace) => binding(options, { role, namespace }))
}

const dataPlaneNamespaces = (options: RolesOptions): readonly string[] =>
  options.dataPlaneNamespaces ?? [options.operatorNamespace]

function watchedNamespaces({ namespaces }: RolesOptions): readonly string[] | 'cluster' {
  return namespaces === 'all' ? 'cluster' : [...new Set(namespaces)]
}

const NAMESPACES = {
  cluster: () => 'cluster',
  resources: watchedNamespaces,
  services: watchedNamespaces,
  pods: (options) => {
    const { namespaces } = options
    if (namespaces === 'all') return 'cluster'
    return [...new Set([...namespaces, ...dataPlaneNamespaces(options)])]
  },
  'data planes': (options) => [...new Set(dataPlaneNamespaces(options))],
  'owner of Secrets': () => [],
  'owner of ConfigMaps': () => [],
  webhook: () => 'cluster',
  injection: ({ injection = false }) => (injection ? 'cluster' : []),
  removal: () => [],
} satisfies Record<DutyScope, (options: RolesOptions) => readonly string[] | 'cluster'>

const OWN_ROLE = 'svc-gateway-operator'

/** Several operators of one namespace share it: their Leases have names of their own. */
const ownRole = ({ operatorNamespace }: OperatorAccount): ValueMap => ({
  apiVersion: RBAC,
  kind: 'Role',
  metadata: {
    name: OWN_ROLE,
    namespace: operatorNamespace,
    annotations: {
      description: 'Lead or stand by; keep its own certificates, and keys of realms.',
    },
  },
  rules: [
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'create', 'update'],
    },
    ...certificateRules(OPERATOR_SECRETS).map(ruleObject),
  ],
})

const RBAC = 'rbac.authorization.k8s.io/v1'

/**
 * It has no holder: where there is no Lease, a first operator has to wait as long as the holder of a deleted one may act.
 * Applying it again leaves its holder alone, as it says nothing of one.
 */
const freeLease = ({ operatorNamespace }: OperatorAccount): ValueMap => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: LEASE, namespace: operatorNamespace, labels: LEASE_FORMAT.labels },
})

/** `--lease` when left out. */
export const LEASE = 'svc-operator'

const serviceAccount = ({
  serviceAccount: name,
  operatorNamespace,
}: OperatorAccount): ValueMap => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: operatorNamespace },
})

interface Bound {
  readonly role: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string }
  /** Absent: in the whole cluster. */
  readonly namespace?: string
}

/** Its name says to which operator it belongs, so that several operators do not overwrite each other's. */
const binding = (
  { serviceAccount: name, operatorNamespace }: OperatorAccount,
  { role, namespace }: Bound,
): ValueMap => {
  const bindingName = `${role.name}:${operatorNamespace}:${name}`
  return {
    apiVersion: RBAC,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: bindingName, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'ServiceAccount', name, namespace: operatorNamespace }],
  }
}
