// What the chart lets the operator do is what operator/resource/ says that it needs: no more, no less.

import { expect, it, jest } from '@jest/globals'
import {
  releaserBindings,
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
    const jobs = objects.filter(({ kind }) => kind === 'Job')
    const bindings = jobs.flatMap(({ metadata: { name } }) =>
      name.endsWith('-release')
        ? releaserBindings({ ...account, serviceAccount: name })
        : uninstallerBindings({ ...account, serviceAccount: name }),
    )
    // Where all namespaces are watched none can be left.
    expect(jobs).toHaveLength(options.namespaces === 'all' ? 1 : 2)
    expect(rights(objects)).toEqual(rights([...rolesFor({ ...account, ...options }), ...bindings]))
  })

  it('without rbac.create and rbac.clusterRoles: none', async () => {
    const values = { rbac: { create: false, clusterRoles: false } }
    const objects = await renderObjects({ values })
    expect(rights(objects)).toEqual([])
    expect(objects.some(({ kind }) => kind === 'ServiceAccount')).toBe(false)
  })

  it('Secrets and ConfigMaps are read, and certificates of sidecars made, where the values say and nowhere else', async () => {
    const objects = await renderObjects({
      values: {
        rbac: { secretNamespaces: ['shop'], configMapNamespaces: ['edge'] },
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
    expect(bound('svc-gateway-configmap-reader')).toEqual(['edge'])
    expect(bound('svc-gateway-certificate-writer')).toEqual(['billing', 'gateways'])
  })

  it('ConfigMaps of all namespaces are read where the values say so', async () => {
    const values = { rbac: { configMapNamespaces: ['all'] } }
    const names = rights(await renderObjects({ values })).filter((each) =>
      each.startsWith('["ClusterRoleBinding","","svc-gateway-configmap-reader:'),
    )
    expect(names).toHaveLength(1)
  })
})
