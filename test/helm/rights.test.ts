// What the chart lets the operator do is what operator/resource/ says that it needs: no more, no less.

import { expect, it, jest } from '@jest/globals'
import {
  rolesFor,
  type RolesOptions,
  uninstallerBindings,
} from '../../operator/resource/roles-for.ts'
import {
  helmAvailability,
  type KubernetesObject,
  renderObjects,
  type RenderOptions,
} from '../support/helm.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { sortKeys } from './value-changes.ts'

jest.setTimeout(120_000)

const KINDS = ['ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding']

/** What counts of it, to be compared. */
const rights = (objects: readonly unknown[]): readonly string[] =>
  (objects as readonly KubernetesObject[])
    .filter(({ kind }) => KINDS.includes(kind))
    .map(({ kind, metadata: { name, namespace = '' }, rules, roleRef, subjects }) =>
      JSON.stringify([
        kind,
        namespace,
        name,
        sortKeys(rules),
        sortKeys(roleRef),
        sortKeys(subjects),
      ]),
    )
    .sort()

const accountIn = (objects: readonly KubernetesObject[]): string => {
  const operator = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-operator'),
  )
  const spec = operator?.['spec'] as {
    readonly template: { readonly spec: { readonly serviceAccountName: string } }
  }
  return spec.template.spec.serviceAccountName
}

const CASES: readonly (readonly [
  name: string,
  values: RenderOptions['values'],
  options: Pick<RolesOptions, 'namespaces' | 'dataPlaneNamespaces' | 'injection'>,
])[] = [
  ['in the cluster', {}, { namespaces: 'all' }],
  [
    'in some namespaces',
    { watch: { namespaces: ['shop', 'billing'] } },
    { namespaces: ['shop', 'billing'] },
  ],
  [
    'with gateways of others',
    { watch: { namespaces: ['shop'] }, dataPlaneNamespaces: ['edge'] },
    { namespaces: ['shop'], dataPlaneNamespaces: ['gateways', 'edge'] },
  ],
  [
    'of sidecars alone',
    { gateway: { enabled: false }, sidecar: { enabled: true, namespaces: ['shop'] } },
    { namespaces: 'all', dataPlaneNamespaces: ['gateways', 'shop'], injection: true },
  ],
]

describeWhenAvailable('rights', helmAvailability(), () => {
  it.each(CASES)('%s: those of rolesFor', async (_name, values, options) => {
    const objects = await renderObjects({ values })
    const account = { serviceAccount: accountIn(objects), operatorNamespace: 'gateways' }
    const uninstall = objects.find(({ kind }) => kind === 'Job')
    const uninstaller = { ...account, serviceAccount: uninstall?.metadata.name ?? '' }
    expect(rights(objects)).toEqual(
      rights([...rolesFor({ ...account, ...options }), ...uninstallerBindings(uninstaller)]),
    )
  })

  it('without rbac.create and rbac.clusterRoles: none', async () => {
    const values = { rbac: { create: false, clusterRoles: false } }
    const objects = await renderObjects({ values })
    expect(rights(objects)).toEqual([])
    expect(objects.some(({ kind }) => kind === 'ServiceAccount')).toBe(false)
  })

  it('Secrets are read, and certificates of sidecars made, where the values say and nowhere else', async () => {
    const objects = await renderObjects({
      values: {
        rbac: { secretNamespaces: ['shop'] },
        sidecar: { enabled: true, namespaces: ['billing'] },
      },
    })
    const bound = (role: string): readonly string[] =>
      objects
        .filter(
          ({ kind, roleRef }) =>
            kind.endsWith('Binding') && (roleRef as { readonly name: string }).name === role,
        )
        .map(({ kind, metadata }) => metadata.namespace ?? kind)
        .sort()
    expect(bound('svc-gateway-secret-reader')).toEqual(['shop'])
    expect(bound('svc-gateway-certificate-writer')).toEqual(['billing', 'gateways'])
  })
})
