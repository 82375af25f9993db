// The operator's own account on a real API server: what it may do with the roles of crds/rbac, and what it may
// not, wherever it is bound.

import { beforeAll, describe, expect, it } from '@jest/globals'
import { customResourceDefinitions } from '../../../operator/resource/crd.ts'
import {
  CERTIFICATE_WRITER,
  CONFIGMAP_READER,
  SECRET_READER,
} from '../../../operator/resource/roles.ts'
import { grantCommand, rolesFor } from '../../../operator/resource/roles-for.ts'
import { isGranted, userOf } from '../../support/kubernetes/access-review.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { eventually } from '../../support/eventually.ts'

const EVERYWHERE = { serviceAccount: 'everywhere', operatorNamespace: 'gateways' } as const
const SOMEWHERE = { serviceAccount: 'somewhere', operatorNamespace: 'gateways' } as const

/** verb, resource.group/subresource, namespace ('' for the cluster, or all namespaces), name */
type Right = readonly [verb: string, resource: string, namespace: string, name: string]

const OURS = 'gateway.svc.dev'
const RBAC = 'rbac.authorization.k8s.io'
const WEBHOOKS = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

const RIGHTS: readonly {
  readonly right: Right
  readonly everywhere: boolean
  readonly somewhere: boolean
}[] = [
  { right: ['watch', `apispecifications.${OURS}`, '', ''], everywhere: true, somewhere: false },
  { right: ['watch', `apispecifications.${OURS}`, 'shop', ''], everywhere: true, somewhere: true },
  { right: ['list', `realms.${OURS}`, 'shop', ''], everywhere: true, somewhere: true },
  { right: ['list', `realms.${OURS}`, 'bank', ''], everywhere: true, somewhere: false },
  { right: ['patch', `realms.${OURS}/status`, 'shop', 'a'], everywhere: true, somewhere: true },
  { right: ['patch', `realms.${OURS}/status`, 'bank', 'a'], everywhere: true, somewhere: false },
  { right: ['patch', `realms.${OURS}`, 'shop', 'a'], everywhere: false, somewhere: false },
  {
    right: ['delete', `apispecifications.${OURS}`, 'shop', 'a'],
    everywhere: false,
    somewhere: false,
  },
  {
    right: ['create', `apispecifications.${OURS}`, 'shop', ''],
    everywhere: false,
    somewhere: false,
  },
  { right: ['watch', 'configmaps', 'shop', 'a'], everywhere: false, somewhere: false },
  { right: ['update', 'configmaps', 'shop', 'a'], everywhere: false, somewhere: false },
  { right: ['list', 'pods', 'shop', ''], everywhere: true, somewhere: true },
  { right: ['list', 'pods', 'gateways', ''], everywhere: true, somewhere: true },
  { right: ['list', 'pods', '', ''], everywhere: true, somewhere: false },
  { right: ['create', 'pods/exec', 'gateways', 'a'], everywhere: false, somewhere: false },
  { right: ['delete', 'pods', 'gateways', 'a'], everywhere: false, somewhere: false },
  { right: ['create', 'events.events.k8s.io', 'shop', ''], everywhere: true, somewhere: true },
  { right: ['patch', 'events.events.k8s.io', 'gateways', 'a'], everywhere: true, somewhere: true },
  { right: ['list', 'events.events.k8s.io', 'shop', ''], everywhere: false, somewhere: false },
  { right: ['watch', 'namespaces', '', ''], everywhere: true, somewhere: true },
  { right: ['patch', 'namespaces', '', 'shop'], everywhere: false, somewhere: false },
  {
    right: ['get', 'customresourcedefinitions.apiextensions.k8s.io', '', `realms.${OURS}`],
    everywhere: true,
    somewhere: true,
  },
  {
    right: ['get', 'customresourcedefinitions.apiextensions.k8s.io', '', 'others.example.com'],
    everywhere: false,
    somewhere: false,
  },
  { right: ['patch', WEBHOOKS, '', 'svc-gateway'], everywhere: true, somewhere: true },
  { right: ['patch', WEBHOOKS, '', 'another'], everywhere: false, somewhere: false },
  { right: ['create', WEBHOOKS, '', 'svc-gateway'], everywhere: true, somewhere: true },
  { right: ['create', WEBHOOKS, '', ''], everywhere: false, somewhere: false },
  { right: ['delete', WEBHOOKS, '', 'svc-gateway'], everywhere: true, somewhere: true },
  { right: ['delete', WEBHOOKS, '', 'another'], everywhere: false, somewhere: false },
  {
    right: ['update', 'leases.coordination.k8s.io', 'gateways', 'a'],
    everywhere: true,
    somewhere: true,
  },
  {
    right: ['create', 'leases.coordination.k8s.io', 'gateways', ''],
    everywhere: true,
    somewhere: true,
  },
  {
    right: ['get', 'leases.coordination.k8s.io', 'kube-system', 'a'],
    everywhere: false,
    somewhere: false,
  },
  { right: ['update', 'secrets', 'gateways', 'svc-gateway-ca'], everywhere: true, somewhere: true },
  { right: ['get', 'secrets', 'gateways', 'another'], everywhere: false, somewhere: false },
  { right: ['list', 'secrets', 'gateways', ''], everywhere: false, somewhere: false },
  { right: ['create', 'secrets', 'shop', ''], everywhere: false, somewhere: false },
  { right: ['get', 'secrets', 'shop', 'svc-gateway-ca'], everywhere: false, somewhere: false },
  { right: ['bind', `clusterroles.${RBAC}`, '', 'admin'], everywhere: false, somewhere: false },
  { right: ['impersonate', 'users', '', 'a'], everywhere: false, somewhere: false },
]

await describeWithKubernetes('the roles of the operator', (plane) => {
  const allows = (
    account: { readonly serviceAccount: string; readonly operatorNamespace: string },
    [verb, target, namespace, name]: Right,
  ): Promise<boolean> => {
    const [full = '', subresource = ''] = target.split('/')
    const [resource = '', ...group] = full.split('.')
    const user = userOf(account.operatorNamespace, account.serviceAccount)
    const access = { verb, namespace, name, resource, subresource, group: group.join('.') }
    return isGranted(plane(), { user, ...access })
  }

  beforeAll(async () => {
    await plane().apply([
      ...['gateways', 'shop', 'bank'].map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
      ...customResourceDefinitions(),
    ])
    await plane().apply(rolesFor({ ...EVERYWHERE, namespaces: 'all' }))
    await plane().apply(rolesFor({ ...SOMEWHERE, namespaces: ['shop'] }))
  }, 120_000)

  it.each(RIGHTS)('$right: everywhere $everywhere, somewhere $somewhere', async (row) => {
    // Roles are known to the server a moment after they are written.
    await eventually(
      async () => {
        expect(await allows(EVERYWHERE, row.right)).toBe(row.everywhere)
        expect(await allows(SOMEWHERE, row.right)).toBe(row.somewhere)
      },
      { withinMs: 20_000, everyMs: 50 },
    )
  })

  it('writes a status by server-side apply, and nothing of the spec', async () => {
    const head = { apiVersion: `${OURS}/v1alpha1`, kind: 'Realm' }
    const metadata = { name: 'shop', namespace: 'shop' }
    await plane().apply([{ ...head, metadata, spec: { uri: 'com.shop' } }])
    const kubeconfig = await plane().serviceAccount('gateways', 'somewhere')
    const apply = (object: object, ...more: readonly string[]): ReturnType<typeof run> =>
      run(['apply', '--server-side', '--field-manager=svc-operator', '-f', '-', ...more], object)
    const run = (args: readonly string[], object: object) =>
      plane().kubectl(args, { kubeconfig, input: JSON.stringify(object) })
    const status = { observedGeneration: 1, errors: [] }
    const written = await apply({ ...head, metadata, status }, '--subresource=status')
    expect(written.stderr).toBe('')
    const spec = { uri: 'com.shop', description: 'mine' }
    expect((await apply({ ...head, metadata, spec }, '--force-conflicts')).stderr).toContain(
      'cannot patch resource "realms"',
    )
    const elsewhere = { ...head, metadata: { ...metadata, namespace: 'bank' }, status }
    expect((await apply(elsewhere, '--subresource=status')).stderr).toContain('forbidden')
  })

  it('watches one CRD of ours by its name', async () => {
    const kubeconfig = await plane().serviceAccount('gateways', 'somewhere')
    const args = ['get', 'crd', '--field-selector', `metadata.name=realms.${OURS}`, '-o', 'name']
    const { stdout } = await plane().kubectl(args, { kubeconfig })
    expect(stdout.trim()).toBe(`customresourcedefinition.apiextensions.k8s.io/realms.${OURS}`)
  })

  describe('what the admin of a namespace gives', () => {
    beforeAll(async () => {
      await plane().apply([
        {
          apiVersion: `${RBAC}/v1`,
          kind: 'RoleBinding',
          metadata: { name: 'owner', namespace: 'bank' },
          roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'admin' },
          subjects: [{ apiGroup: RBAC, kind: 'User', name: 'owner' }],
        },
      ])
    }, 60_000)

    it.each([
      [SECRET_READER, ['watch', 'secrets', 'bank', 'any']],
      [CONFIGMAP_READER, ['watch', 'configmaps', 'bank', 'any']],
      [CERTIFICATE_WRITER, ['update', 'secrets', 'bank', 'svc-gateway-management-tls']],
    ] as const)('%s, with the line that the operator tells', async (role, right) => {
      expect(await allows(EVERYWHERE, right)).toBe(false)
      const [kubectl, ...args] = grantCommand(EVERYWHERE, role, 'bank').split(' ')
      expect(kubectl).toBe('kubectl')
      await eventually(
        async () => {
          const { stderr } = await plane().kubectl([...args, '--as=owner'])
          expect(stderr).toBe('')
        },
        { withinMs: 15_000, everyMs: 200 },
      )
      await eventually(
        async () => {
          expect(await allows(EVERYWHERE, right)).toBe(true)
        },
        { withinMs: 15_000 },
      )
      expect(await allows(EVERYWHERE, ['list', 'secrets', 'shop', ''])).toBe(false)
    })
  })
})
