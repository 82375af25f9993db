// The chart at a real API server: everything it renders is accepted, its Pods under the Pod Security Standard
// `restricted`; its kinds are upgraded, never lowered, and stay when it goes.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, jest } from '@jest/globals'
import { parse } from 'yaml'
import { makeNamespace } from '../component/kubernetes/operator-api.ts'
import {
  CHART,
  type HelmOptions,
  helmAvailability,
  type KubernetesObject,
  objectsIn,
  renderChart,
  runHelm,
} from '../support/helm.ts'
import { demand } from '../support/kubernetes/api-client.ts'
import { describeWithKubernetes } from '../support/kubernetes/describe-with-kubernetes.ts'

jest.setTimeout(180_000)

const GOLDEN = join(import.meta.dirname, '../golden/helm')
const NAMESPACE = 'gateways'
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const KINDS = ['apispecifications', 'realms'].map((plural) => `${plural}.gateway.svc.dev`)
/** Of kinds that kubectl has applied: Helm 4 applies on the server's side, where values that differ conflict. */
const TAKE = ['--take-ownership', '--force-conflicts']
const STAMP = 'gateway.svc.dev/schema-version'

const valuesOf = (name: string): unknown =>
  parse(readFileSync(join(GOLDEN, name, 'values.yaml'), 'utf8'))

interface PodSpec {
  readonly securityContext?: unknown
  readonly containers: readonly { readonly securityContext?: unknown }[]
}

/** What a controller would make of it, or the Pod itself. */
const podsIn = (objects: readonly KubernetesObject[]): readonly (readonly [string, PodSpec])[] =>
  objects.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'Pod') return [[metadata.name, spec as PodSpec]]
    const { template } = (spec ?? {}) as { readonly template?: { readonly spec: PodSpec } }
    return template === undefined ? [] : [[metadata.name, template.spec]]
  })

await describeWithKubernetes('the chart', (plane) => {
  if (!helmAvailability().available) return

  const helm = async (args: readonly string[], options: HelmOptions = {}): Promise<string> => {
    const { kubeconfig } = plane()
    const { code, stdout, stderr } = await runHelm([...args, '--namespace', NAMESPACE], {
      ...options,
      kubeconfig,
    })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  const stampOf = async (name: string): Promise<string | undefined> => {
    const answer = demand(await plane().request({ path: `${CRD}/${name}` }), 200)
    const { metadata } = answer.json() as KubernetesObject
    return metadata.annotations?.[STAMP]
  }

  const setStamp = async (version: string): Promise<void> => {
    for (const name of KINDS) {
      const args = ['annotate', 'crd', name, `${STAMP}=${version}`, '--overwrite']
      const { code, stderr } = await plane().kubectl(args)
      if (code !== 0) throw new Error(stderr)
    }
  }

  beforeAll(async () => {
    for (const name of [NAMESPACE, 'shop', 'billing', 'edge']) await makeNamespace(plane(), name)
    const label = 'pod-security.kubernetes.io/enforce=restricted'
    const { code } = await plane().kubectl(['label', 'namespace', NAMESPACE, label])
    if (code !== 0) throw new Error('the namespace was not labelled')
  })

  describe('what it renders', () => {
    it.each(readdirSync(GOLDEN))('%s: is accepted without a warning', async (name) => {
      const input = await renderChart({ values: valuesOf(name), kinds: [], namespace: NAMESPACE })
      const args = ['apply', '--server-side', '--dry-run=server', '-f', '-']
      const { code, stderr } = await plane().kubectl(args, { input })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    })

    it.each(readdirSync(GOLDEN))('%s: its Pods are restricted', async (name) => {
      const text = await renderChart({ values: valuesOf(name), kinds: [], namespace: NAMESPACE })
      // An admission of its own, which is not asked here.
      const pods = podsIn(objectsIn(text)).map(([pod, spec]) => [
        pod,
        { ...spec, serviceAccountName: 'default', priorityClassName: undefined },
      ]) satisfies [string, PodSpec][]
      expect(pods.length).toBeGreaterThan(1)
      for (const [pod, spec] of pods) {
        const create = (body: object) =>
          plane().request({
            method: 'POST',
            path: `/api/v1/namespaces/${NAMESPACE}/pods?dryRun=All`,
            body: { metadata: { name: pod }, spec: body },
          })
        const answer = await create(spec)
        expect({ status: answer.status, text: answer.text.slice(0, 300) }).toMatchObject({
          status: 201,
        })
        // The same without what makes it so.
        const bare = spec.containers.map((each) => ({ ...each, securityContext: undefined }))
        const refused = await create({ ...spec, containers: bare })
        expect(refused.text).toContain('violates PodSecurity')
      }
    })
  })

  describe('who may do something in one namespace alone', () => {
    it('installs what belongs there', async () => {
      const kubeconfig = await plane().serviceAccount('edge', 'owner')
      await plane().apply([
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'owner', namespace: 'edge' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
          subjects: [{ kind: 'ServiceAccount', name: 'owner', namespace: 'edge' }],
        },
      ])
      const own =
        'rbac.create=false,rbac.clusterRoles=false,crds.install=false,webhook.enabled=false'
      const args = ['install', 'own', CHART, '--namespace', 'edge', '--set', own]
      const { code, stdout, stderr } = await runHelm([...args, '--dry-run=server'], { kubeconfig })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain('the kinds are not to be seen')
    })
  })

  describe('its kinds', () => {
    it('take the place of older ones that somebody else has installed, when told to', async () => {
      await plane().apply(readFileSync(join(CHART, 'generated/crds/realms.yaml'), 'utf8'))
      await plane().apply(
        readFileSync(join(CHART, 'generated/crds/apispecifications.yaml'), 'utf8'),
      )
      await setStamp('0')
      const args = ['install', 'demo', CHART, '--no-hooks']
      await expect(helm(args)).rejects.toThrow(/cannot be imported into the current release/)
      const said = await helm([...args, ...TAKE])
      expect(said).toContain('kubectl apply --server-side')
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(['1', '1'])
    })

    it('are not lowered: newer ones stay, and are told of', async () => {
      await setStamp('99')
      // As `kubectl replace` leaves them: nothing in the cluster says that they are to be kept.
      await plane().kubectl(['annotate', 'crd', ...KINDS, 'helm.sh/resource-policy-'])
      const said = await helm(['upgrade', 'demo', CHART, '--no-hooks', ...TAKE])
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(['99', '99'])
      expect(said).toContain('is newer than this chart')
    })

    it('are there again for the release when they are no longer newer', async () => {
      await setStamp('0')
      await helm(['upgrade', 'demo', CHART, '--no-hooks', ...TAKE])
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(['1', '1'])
    })

    it('keep the keys of logins through an upgrade', async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/secrets/demo-svc-gateway-oidc-state`
      const before = demand(await plane().request({ path }), 200).json() as KubernetesObject
      await helm(['upgrade', 'demo', CHART, '--no-hooks', '--set', 'operator.replicas=1'])
      const after = demand(await plane().request({ path }), 200).json() as KubernetesObject
      expect(after['data']).toEqual(before['data'])
    })

    it('stay when it is uninstalled, and all else of it goes', async () => {
      await helm(['uninstall', 'demo', '--no-hooks'])
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(['1', '1'])
      const selector = ['-l', 'app.kubernetes.io/instance=demo', '-o', 'name']
      const what =
        'deployments,services,secrets,roles,rolebindings,clusterroles,clusterrolebindings'
      const { code, stdout } = await plane().kubectl(['get', what, '-A', ...selector])
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    })
  })
})
