// What a cluster needs before the operator runs in it, as the text of the files in crds/: kinds, roles, bindings.

import { stringify } from 'yaml'
import { customResourceDefinitions } from '../../operator/resource/crd.ts'
import { accountObjects } from '../../operator/resource/roles-for.ts'
import { clusterRoles } from '../../operator/resource/roles.ts'

/** What docs/kubernetes.md installs. */
export const DOCUMENTED_ACCOUNT = {
  serviceAccount: 'svc-operator',
  operatorNamespace: 'svc-gateway-system',
  namespaces: 'all',
} as const

/** Path below the root of the repository → text. */
export const renderInstallFiles = (): ReadonlyMap<string, string> => {
  const [documents, realms] = customResourceDefinitions()
  return new Map([
    ['crds/apispecifications.yaml', yamlOf([documents])],
    ['crds/realms.yaml', yamlOf([realms])],
    ['crds/rbac/roles.yaml', yamlOf(clusterRoles())],
    ['crds/rbac/operator.yaml', yamlOf(accountObjects(DOCUMENTED_ACCOUNT))],
  ])
}

const HEAD = '# Generated from operator/resource/ by `make golden`; do not edit.\n'

const yamlOf = (objects: readonly unknown[]): string =>
  HEAD + objects.map((object) => stringify(object, { lineWidth: 100 })).join('---\n')
