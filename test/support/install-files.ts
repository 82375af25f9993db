// What a cluster needs before the operator runs in it, kinds, roles and bindings, as the text of the files in crds/,
// and of those that the chart is rendered from.

import { stringify } from 'yaml'
import { GATEWAY_FLAGS } from '../../operator/admission/gateway-flags.ts'
import { CLOSED_FLAGS } from '../../operator/admission/inject-flags.ts'
import { customResourceDefinitions } from '../../operator/resource/crd.ts'
import { accountObjects } from '../../operator/resource/roles-for.ts'
import { clusterRoles, DUTIES, type Duty } from '../../operator/resource/roles.ts'

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
    [
      'helm/svc-gateway/generated/sidecar-flags.yaml',
      yamlOf([sidecarFlags()], 'operator/admission/'),
    ],
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

/** Their values are judged by the operator at its start. */
const sidecarFlags = (): unknown => ({
  closed: Object.fromEntries(CLOSED_FLAGS),
  known: Object.keys(GATEWAY_FLAGS.settings).filter((name) => !CLOSED_FLAGS.has(name)),
  switches: Object.entries(GATEWAY_FLAGS.settings).flatMap(([name, { type }]) =>
    type === 'boolean' ? [`no-${name}`] : [],
  ),
  secrets: Object.entries(GATEWAY_FLAGS.settings).flatMap(([name, { isSecret }]) =>
    isSecret === true ? [name] : [],
  ),
})

const yamlOf = (objects: readonly unknown[], from = 'operator/resource/'): string =>
  `# Generated from ${from} by \`make golden\`; do not edit.\n` +
  objects.map((object) => stringify(object, { lineWidth: 100 })).join('---\n')
