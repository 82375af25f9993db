// The chart at a real API server: everything it renders is accepted, its Pods under the Pod Security Standard
// `restricted`; its kinds are upgraded, never lowered, and stay when it goes.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { SCHEMA_STAMP, SCHEMA_VERSION } from '../../operator/resource/crd.ts'
import { eventually } from '../support/eventually.ts'
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
import { olderVersion, tellOfNoHistory } from '../support/older-version.ts'

jest.setTimeout(180_000)

const older = await olderVersion()

const GOLDEN = join(import.meta.dirname, '../golden/helm')
const NAMESPACE = 'gateways'
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const KINDS = ['apispecifications', 'realms'].map((plural) => `${plural}.gateway.svc.dev`)
/** Of kinds that kubectl has applied: Helm 4 applies on the server's side, where values that differ conflict. */
const TAKE = ['--take-ownership', '--force-conflicts']
/** Of this checkout. */
const CURRENT = [String(SCHEMA_VERSION), String(SCHEMA_VERSION)]

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
    const response = demand(await plane().request({ path: `${CRD}/${name}` }), 200)
    const { metadata } = response.json() as KubernetesObject
    return metadata.annotations?.[SCHEMA_STAMP]
  }

  const setStamp = async (version: string): Promise<void> => {
    for (const name of KINDS) {
      const args = ['annotate', 'crd', name, `${SCHEMA_STAMP}=${version}`, '--overwrite']
      const { code, stderr } = await plane().kubectl(args)
      if (code !== 0) throw new Error(stderr)
    }
  }

  const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await plane().kubectl(args, {
      ...(input !== undefined && { input }),
    })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  const specOf = async (name: string): Promise<unknown> => {
    const { spec } = demand(await plane().request({ path: `${CRD}/${name}` }), 200).json() as {
      readonly spec: unknown
    }
    return spec
  }

  /** As a later version might have it: with another field, and without something. @returns its spec */
  const changeKind = async (name: string): Promise<unknown> => {
    const fields = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties'
    const patch = [
      { op: 'add', path: `${fields}/onlyNewerOnesHaveIt`, value: { type: 'string' } },
      { op: 'remove', path: '/spec/names/categories' },
    ]
    await kubectl(['patch', 'crd', name, '--type=json', '-p', JSON.stringify(patch)])
    return specOf(name)
  }

  const writeNewer = (): Promise<string> =>
    eventually(
      () =>
        kubectl(
          ['apply', '--server-side', '--validate=strict', '-f', '-'],
          JSON.stringify({
            apiVersion: 'gateway.svc.dev/v1alpha1',
            kind: 'Realm',
            metadata: { name: 'newer', namespace: 'shop' },
            spec: { uri: 'com.newer', gatewayClassName: 'other', onlyNewerOnesHaveIt: 'kept' },
          }),
        ),
      // The API server takes a moment to serve a kind that was changed.
      { withinMs: 20_000 },
    )

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
        const response = await create(spec)
        expect({ status: response.status, text: response.text.slice(0, 300) }).toMatchObject({
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
      expect(stdout).toContain('the cluster does not have the kinds')
    })
  })

  describe('replicas that others set', () => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/demo-svc-gateway`
    const upgrade = (...args: readonly string[]): Promise<string> =>
      helm(['upgrade', 'demo', CHART, '--no-hooks', '--set', 'crds.install=false', ...args])

    const replicas = async (): Promise<number> => {
      const { spec } = demand(await plane().request({ path }), 200).json() as KubernetesObject
      return (spec as { readonly replicas: number }).replicas
    }

    /** As `kubectl scale` and, for itself and for KEDA, the controller of a HorizontalPodAutoscaler do it. */
    const scale = async (manager: string, count: number): Promise<void> => {
      const scaled = `${path}/scale?fieldManager=${manager}`
      const { metadata } = demand(await plane().request({ path }), 200).json() as KubernetesObject
      const body = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        spec: { replicas: count },
        metadata: { name: metadata.name, namespace: NAMESPACE },
      }
      demand(await plane().request({ method: 'PUT', path: scaled, body }), 200)
    }

    afterAll(() => helm(['uninstall', 'demo', '--no-hooks']))

    it('stay as Helm has written them until somebody has scaled', async () => {
      await helm(['install', 'demo', CHART, '--no-hooks', '--set', 'crds.install=false'])
      await upgrade('--set', 'gateway.replicas=3')
      for (const left of ['gateway.replicas=null', 'gateway.autoscaling.enabled=true']) {
        await upgrade('--set', left)
        expect(await replicas()).toBe(3)
      }
    })

    it.each([
      ['kubectl', 4],
      ['kube-controller-manager', 6],
      ['keda-operator', 0],
    ])('by %s: upgrades leave them alone', async (manager, count) => {
      await scale(manager, count)
      await upgrade('--set', 'gateway.replicas=null')
      expect(await replicas()).toBe(count)
      await upgrade('--set', 'gateway.replicas=null,operator.replicas=1')
      expect(await replicas()).toBe(count)
    })

    it('are a conflict where the chart has a number of its own: left to others, or taken', async () => {
      await upgrade('--set', 'gateway.replicas=3', '--force-conflicts')
      await scale('kubectl', 4)
      await expect(upgrade('--set', 'gateway.replicas=2')).rejects.toThrow(
        /conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/,
      )
      await upgrade('--set', 'gateway.replicas=null')
      expect(await replicas()).toBe(4)
      await upgrade('--set', 'gateway.replicas=2', '--force-conflicts')
      expect(await replicas()).toBe(2)
      await upgrade('--set', 'gateway.replicas=3')
      expect(await replicas()).toBe(3)
    })

    it('are not set at a first installation: the API server sets one', async () => {
      await helm(['uninstall', 'demo', '--no-hooks'])
      const set = 'crds.install=false,gateway.replicas=null'
      await helm(['install', 'demo', CHART, '--no-hooks', '--set', set])
      expect(await replicas()).toBe(1)
    })

    it('stay as they are when an upgrade after scaling is rolled back', async () => {
      await scale('kubectl', 4)
      await upgrade('--set', 'gateway.replicas=null,operator.replicas=1')
      expect(await replicas()).toBe(4)
      await helm(['rollback', 'demo', '1', '--no-hooks'])
      expect(await replicas()).toBe(4)
    })
  })

  describe('the Service of the webhook, when sidecars are turned on', () => {
    const LABEL = 'gateway.svc.dev/injects'
    const NAME = 'demo-svc-gateway-operator'
    const install = (command: string, ...values: readonly string[]): Promise<string> =>
      helm([
        command,
        'demo',
        CHART,
        '--no-hooks',
        '--set',
        ['crds.install=false', ...values].join(),
      ])

    const hasLabel = async (what: string, path: string): Promise<boolean> => {
      const args = ['get', what, NAME, '-n', NAMESPACE, '-o', `jsonpath={${path}}`]
      return (await plane().kubectl(args)).stdout.includes(LABEL)
    }
    const asksInjectorsOnly = async () => ({
      service: await hasLabel('service', '.spec.selector'),
      pods: await hasLabel('deployment', '.spec.template.metadata.labels'),
    })

    afterAll(() => helm(['uninstall', 'demo', '--no-hooks']))

    it('leads to operators that inject, and to others no more', async () => {
      await install('install')
      expect(await asksInjectorsOnly()).toEqual({ service: false, pods: false })
      for (let upgrade = 0; upgrade < 2; upgrade += 1) {
        await install('upgrade', 'sidecar.enabled=true')
        expect(await asksInjectorsOnly()).toEqual({ service: true, pods: true })
      }
    })

    it('leads on to those of an older chart, which inject without the label, until they are gone', async () => {
      const patch = { spec: { template: { metadata: { labels: { [LABEL]: null } } } } }
      const args = ['deployment', NAME, '-n', NAMESPACE, '--patch', JSON.stringify(patch)]
      expect((await plane().kubectl(['patch', ...args])).stderr).toBe('')
      for (const service of [false, true]) {
        await install('upgrade', 'sidecar.enabled=true')
        expect(await asksInjectorsOnly()).toEqual({ service, pods: true })
      }
    })
  })

  describe('its kinds', () => {
    it('take the place of older ones that somebody else has installed, with the flag for that', async () => {
      await plane().apply(readFileSync(join(CHART, 'generated/crds/realms.yaml'), 'utf8'))
      await plane().apply(
        readFileSync(join(CHART, 'generated/crds/apispecifications.yaml'), 'utf8'),
      )
      await setStamp('0')
      const args = ['install', 'demo', CHART, '--no-hooks']
      await expect(helm(args)).rejects.toThrow(/cannot be imported into the current release/)
      const said = await helm([...args, ...TAKE])
      expect(said).toContain('kubectl apply --server-side')
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(CURRENT)
    })

    it('are not lowered: newer ones stay as they are, and are reported', async () => {
      await setStamp('99')
      const before = await Promise.all(KINDS.map(changeKind))
      await writeNewer()
      // As `kubectl replace` leaves them: nothing in the cluster says that they are to be kept.
      await plane().kubectl(['annotate', 'crd', ...KINDS, 'helm.sh/resource-policy-'])
      const said = await helm(['upgrade', 'demo', CHART, '--no-hooks', ...TAKE])
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(['99', '99'])
      expect(said).toContain('is newer than this chart')
      expect(await Promise.all(KINDS.map(specOf))).toEqual(before)
      // Written again, an object of a lowered kind would lose what only the newer one has.
      await kubectl(['label', 'realm', 'newer', '-n', 'shop', 'written=again'])
      const jsonpath = 'jsonpath={.spec.onlyNewerOnesHaveIt}'
      expect(await kubectl(['get', 'realm', 'newer', '-n', 'shop', '-o', jsonpath])).toBe('kept')
      await kubectl(['delete', 'realm', 'newer', '-n', 'shop'])
    })

    it('are there again for the release when they are no longer newer', async () => {
      await setStamp('0')
      await helm(['upgrade', 'demo', CHART, '--no-hooks', ...TAKE])
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(CURRENT)
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
      expect(await Promise.all(KINDS.map(stampOf))).toEqual(CURRENT)
      const selector = ['-l', 'app.kubernetes.io/instance=demo', '-o', 'name']
      const what =
        'deployments,services,secrets,roles,rolebindings,clusterroles,clusterrolebindings'
      const { code, stdout } = await plane().kubectl(['get', what, '-A', ...selector])
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    })
  })

  const withOlder = older === undefined ? describe.skip : describe
  if (older === undefined) tellOfNoHistory('the chart of a version before')

  withOlder('beside one of a version before', () => {
    const from = older?.chart ?? ''
    const values = { sidecar: { enabled: true } }

    /** Between what helm takes for applied and what the API server has. */
    const difference = async (): Promise<object> => {
      const input = await helm(['get', 'manifest', 'skew'])
      const asReader = ['--server-side', '--force-conflicts', '--field-manager=reader']
      const { code, stdout } = await plane().kubectl(['diff', ...asReader, '-f', '-'], { input })
      return { code, stdout }
    }

    it.each<[string, readonly string[]]>([
      ['the older one is installed', ['install', 'skew', from, ...TAKE]],
      ['and upgraded to this one', ['upgrade', 'skew', CHART]],
      ['rolled back to the older one', ['rollback', 'skew', '1']],
      ['upgraded again', ['upgrade', 'skew', CHART]],
      ['and back by an upgrade with the older one', ['upgrade', 'skew', from]],
    ])('%s', async (_, args) => {
      await helm([...args, '--no-hooks'], args[0] === 'rollback' ? {} : { values })
      expect(await difference()).toEqual({ code: 0, stdout: '' })
    })
  })
})
