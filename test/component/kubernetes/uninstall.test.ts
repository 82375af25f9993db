// `svc-operator uninstall` beside an operator that runs, with the rights of its own account and no more: nothing of the
// operator is left, nothing comes back after, and nothing of anybody else goes.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import { OWNER_ANNOTATION } from '../../../operator/certificates/secret-store.ts'
import { uninstallerBindings } from '../../../operator/resource/roles-for.ts'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { programEnvironment } from '../../support/program-environment.ts'
import { Home, OPERATOR_NAMESPACE, PATIENCE, type ResourceStatus } from './home.ts'
import { documentObject, realmObject } from './objects.ts'

const MAIN = join(import.meta.dirname, '../../../operator/main.ts')
const LONG_MS = 180_000
const SECRETS = [
  'svc-gateway-ca',
  'svc-gateway-operator-tls',
  'svc-gateway-webhook-tls',
  'svc-gateway-realm-keys',
]
const SERVER = 'svc-gateway-management-tls'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const uninstall = (kubeconfig: string, ...flags: readonly string[]): Promise<Ended> =>
  command('uninstall', kubeconfig, ...flags)

const command = (name: string, kubeconfig: string, ...flags: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const own = ['--kubeconfig', kubeconfig, '--namespace', OPERATOR_NAMESPACE]
    const argv = [MAIN, name, ...own, ...flags]
    execFile(process.execPath, argv, { env: programEnvironment() }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
  })

/** Every object of ours that no definition, document or realm is. */
const ours = async (plane: ControlPlane): Promise<readonly string[]> => {
  const kinds = 'secrets,leases,validatingwebhookconfigurations,mutatingwebhookconfigurations'
  const { stdout } = await plane.kubectl(['get', kinds, '-A', '-o', 'json'])
  const { items } = JSON.parse(stdout) as {
    readonly items: readonly {
      readonly kind: string
      readonly metadata: { readonly name: string; readonly namespace?: string }
    }[]
  }
  return items
    .map(({ kind, metadata: { name, namespace = '' } }) => `${kind} ${namespace}/${name}`)
    .filter((line) => line.includes('svc-'))
    .sort()
}

/** @throws while there is no Lease */
const renewTime = async (plane: ControlPlane): Promise<string> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/svc-operator`
  const { spec } = demand(await plane.request({ path })).json() as {
    readonly spec: { readonly renewTime: string }
  }
  return spec.renewTime
}

const webhooks = (kind: string, service: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'svc-gateway' },
  webhooks: [
    {
      name: 'inject.gateway.svc.dev',
      clientConfig: { service },
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

const documentIn = (namespace: string): object =>
  documentObject(namespace, 'doc', {
    id: `doc-${namespace}`,
    realm: `com.${namespace}`,
    paths: { '/x': 'x' },
  })

const secret = (namespace: string, annotations: object): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: SERVER, namespace, annotations },
  stringData: { 'tls.crt': 'a' },
})

await describeWithKubernetes('svc-operator uninstall', (plane) => {
  let kubeconfig = ''

  const readyOf = async (plural: string, namespace: string): Promise<string> => {
    const path = `/apis/gateway.svc.dev/v1alpha1/namespaces/${namespace}/${plural}`
    const { items } = demand(await plane().request({ path })).json() as {
      readonly items: readonly { readonly status: ResourceStatus }[]
    }
    const ready = items[0]?.status.conditions.find(({ type }) => type === 'Ready')
    return `${ready?.status ?? ''}/${ready?.reason ?? ''}`
  }

  /** The document has been validated, and its Realm too. */
  const untilWritten = (namespace: string, reason: string): Promise<void> =>
    eventually(async () => {
      expect(await readyOf('apispecifications', namespace)).toBe(`False/${reason}`)
      expect(await readyOf('realms', namespace)).not.toContain('Pending')
    }, PATIENCE)

  beforeAll(async () => {
    kubeconfig = await plane().serviceAccount(OPERATOR_NAMESPACE, 'svc-uninstall')
    const account = { serviceAccount: 'svc-uninstall', operatorNamespace: OPERATOR_NAMESPACE }
    const names = ['foreign', 'stranger', 'shop', 'team'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    }))
    await plane().apply(names)
    await plane().apply([
      ...uninstallerBindings(account),
      // Another operator's, and somebody's who has never heard of us.
      secret('foreign', { [OWNER_ANNOTATION]: 'elsewhere' }),
      secret('stranger', {}),
    ])
  }, LONG_MS)

  it(
    'removes all of it while the operator runs, and none of it comes back',
    async () => {
      await using home = await Home.open(plane(), { tls: true })
      const flags = ['--webhook', '127.0.0.1:0', '--webhook-service', 'svc-gateway-operator']
      await using operator = await home.startOperator({ flags })
      await plane().fakePod({
        namespace: OPERATOR_NAMESPACE,
        name: 'gateway',
        ip: '127.0.1.200',
        ports: { management: 1 },
        labels: { 'gateway.svc.dev/data-plane': 'shared' },
      })
      await plane().apply([documentIn('shop'), realmObject('shop')])
      await untilWritten('shop', 'Unreachable')
      const all = [
        ...SECRETS.map((name) => `Secret ${OPERATOR_NAMESPACE}/${name}`),
        `Secret ${OPERATOR_NAMESPACE}/${SERVER}`,
        `Lease ${OPERATOR_NAMESPACE}/svc-operator`,
        'ValidatingWebhookConfiguration /svc-gateway',
      ]
      await eventually(async () => {
        expect(await ours(plane())).toEqual(expect.arrayContaining(all))
      }, PATIENCE)
      const service = { namespace: OPERATOR_NAMESPACE, name: 'svc-gateway-operator' }
      await plane().apply([webhooks('MutatingWebhookConfiguration', service)])

      const named = ['--webhook-service', 'svc-gateway-operator']
      const ended = await uninstall(kubeconfig, ...named)
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      const left = [`Secret foreign/${SERVER}`, `Secret stranger/${SERVER}`]
      expect(await ours(plane())).toEqual(left)
      const lines = ended.stdout.trim().split('\n')
      expect(lines[0]).toBe('waiting 11 s until the operator has certainly stopped')
      expect(lines[1]).toMatch(/^released {2}2 resources: /)
      expect(await readyOf('apispecifications', 'shop')).toBe('Unknown/Released')
      expect(await readyOf('realms', 'shop')).toBe('Unknown/Released')
      expect(lines.slice(2, 4)).toEqual([
        'deleted   ValidatingWebhookConfiguration svc-gateway',
        'deleted   MutatingWebhookConfiguration svc-gateway',
      ])
      expect(ended.stdout).toContain(
        `kept      Secret foreign/${SERVER}: it belongs to the operator of namespace elsewhere\n`,
      )
      expect(ended.stdout).toContain(
        `kept      Secret stranger/${SERVER}: it does not carry the annotation ${OWNER_ANNOTATION}\n`,
      )
      expect(lines.at(-1)).toBe(`deleted   Lease ${OPERATOR_NAMESPACE}/svc-operator`)

      // It runs on, looks for its Lease, makes one, and yet does nothing: the last holder may still act.
      const made = await eventually(() => renewTime(plane()), PATIENCE)
      await eventually(async () => {
        expect(await renewTime(plane())).not.toBe(made)
      }, PATIENCE)
      expect((await ours(plane())).filter((line) => !line.startsWith('Lease'))).toEqual(left)
      expect(await operator.isLeading()).toBe(false)
      await operator.stop()

      const second = await uninstall(kubeconfig, ...named)
      expect(second).toMatchObject({ code: 0, stderr: '' })
      expect(second.stdout).toContain('not there ValidatingWebhookConfiguration svc-gateway\n')
      expect(await ours(plane())).toEqual(left)
    },
    LONG_MS,
  )

  it(
    'releases what is outside of the namespaces that are still watched, and nothing else',
    async () => {
      await using home = await Home.open(plane(), { tls: true })
      await using operator = await home.startOperator()
      await plane().apply(['shop', 'team'].flatMap((each) => [documentIn(each), realmObject(each)]))
      await untilWritten('shop', 'Unreachable')
      await untilWritten('team', 'Unreachable')
      await operator.stop()
      const { code, stdout } = await command('release', kubeconfig, '--namespaces', 'shop')
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^released {2}2 resources: /) as unknown,
      })
      expect(await readyOf('apispecifications', 'team')).toBe('Unknown/Released')
      expect(await readyOf('realms', 'team')).toBe('Unknown/Released')
      expect(await readyOf('apispecifications', 'shop')).toBe('False/Unreachable')
      const again = await command('release', kubeconfig, '--namespaces', 'shop')
      expect(again.stdout).toMatch(/^released {2}0 resources: /)
      await plane().kubectl(['delete', 'apispec,realm', '--all', '-A'])
    },
    LONG_MS,
  )

  it(
    'leaves what another operator has, and says so',
    async () => {
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          name: 'second',
          namespace: OPERATOR_NAMESPACE,
          labels: { 'app.kubernetes.io/part-of': 'svc-gateway' },
        },
        spec: { holderIdentity: 'somebody' },
      }
      const service = { namespace: 'elsewhere', name: 'svc-operator' }
      await plane().apply([
        lease,
        webhooks('MutatingWebhookConfiguration', service),
        secret('shop', { [OWNER_ANNOTATION]: OPERATOR_NAMESPACE }),
      ])
      const ended = await uninstall(kubeconfig)
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      expect(ended.stdout).toContain(
        `the operator of Lease ${OPERATOR_NAMESPACE}/second shares them; delete that Lease if it is gone\n`,
      )
      expect(ended.stdout).toContain(
        'kept      MutatingWebhookConfiguration svc-gateway: it belongs to the operator of namespace elsewhere\n',
      )
      expect(await ours(plane())).toEqual(
        expect.arrayContaining([
          `Secret shop/${SERVER}`,
          'MutatingWebhookConfiguration /svc-gateway',
        ]),
      )
      await plane().kubectl(['delete', 'lease', 'second', '-n', OPERATOR_NAMESPACE])
      await plane().kubectl(['delete', 'mutatingwebhookconfiguration', 'svc-gateway'])
    },
    LONG_MS,
  )

  it(
    'goes on where it may not, and says what is left and how to remove it',
    async () => {
      const { code, stderr, stdout } = await uninstall(
        await plane().serviceAccount(OPERATOR_NAMESPACE, 'svc-nobody'),
      )
      expect(code).toBe(1)
      expect(stdout).toContain(`failed    Lease ${OPERATOR_NAMESPACE}/svc-operator: `)
      const commands = [...stderr.matchAll(/remove it with: (.*)$/gm)].map(([, line = '']) => line)
      expect(commands).toEqual([
        `kubectl delete leases svc-operator --namespace=${OPERATOR_NAMESPACE}`,
        'kubectl delete validatingwebhookconfigurations svc-gateway',
        'kubectl delete mutatingwebhookconfigurations svc-gateway',
        `kubectl delete secrets --all-namespaces --field-selector=metadata.name=${SERVER} --selector=app.kubernetes.io/managed-by=svc-operator`,
        ...SECRETS.map(
          (name) => `kubectl delete secrets ${name} --namespace=${OPERATOR_NAMESPACE}`,
        ),
      ])
      for (const line of commands) {
        const run = await plane().kubectl([...line.split(' ').slice(1), '--dry-run=server'])
        expect(run.stderr).toMatch(/^(No resources found\n|Error from server \(NotFound\).*\n|)$/)
      }
    },
    LONG_MS,
  )
})
