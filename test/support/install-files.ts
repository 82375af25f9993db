// Writes what a cluster needs before the operator runs in it, kinds, roles and bindings: the files in crds/, and those
// that the chart is rendered from.

import { stringify } from 'yaml'
import { customResourceDefinitions } from '../../operator/resource/crd.ts'
import { accountObjects } from '../../operator/resource/roles-for.ts'
import { clusterRoles, DUTIES, type Duty } from '../../operator/resource/roles.ts'
import { chartFlags } from './chart-flags.ts'

/** What docs/kubernetes.md installs. */
export const DOCUMENTED_ACCOUNT = {
  serviceAccount: 'svc-operator',
  operatorNamespace: 'svc-gateway-system',
  namespaces: 'all',
} as const

/** Folders that hold nothing else. */
export const INSTALL_FOLDERS = ['crds', 'helm/svc-gateway/generated'] as const

/** Path below the root of the repository → text. */
export const renderInstallFiles = (): ReadonlyMap<string, string> => {
  const [documents, realms] = customResourceDefinitions()
  return new Map([
    ['crds/apispecifications.yaml', yamlOf([documents])],
    ['crds/realms.yaml', yamlOf([realms])],
    ['crds/rbac/roles.yaml', yamlOf(clusterRoles())],
    ['crds/rbac/operator.yaml', yamlOf(accountObjects(DOCUMENTED_ACCOUNT))],
    ['helm/svc-gateway/generated/crds/apispecifications.yaml', yamlOf([documents])],
    ['helm/svc-gateway/generated/crds/realms.yaml', yamlOf([realms])],
    ['helm/svc-gateway/generated/rbac.yaml', yamlOf([chartRoles()])],
    ['helm/svc-gateway/generated/flags.yaml', yamlOf([chartFlags()], 'the settings tables')],
  ])
}

/** Roles as the chart has them, and where each duty is done: it binds them where its values say. */
const chartRoles = (): unknown => {
  const own = accountObjects(DOCUMENTED_ACCOUNT).find(({ kind }) => kind === 'Role')
  return {
    clusterRoles: clusterRoles(),
    ownRole: own,
    duties: DUTIES.map(({ name, scope }: Duty) => ({ name, scope })),
  }
}

const yamlOf = (objects: readonly unknown[], from = 'operator/resource/'): string =>
  `# Generated from ${from} by \`make golden\`; do not edit.\n` +
  objects
    .map((object) => stringify(object, { lineWidth: 100, aliasDuplicateObjects: false }))
    .join('---\n')
