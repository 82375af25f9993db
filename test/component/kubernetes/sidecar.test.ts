// Pods on a real API server, as an operator process with --sidecar answers it: what they become, where they do not, and
// that they come all the same while no operator answers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { customResourceDefinitions } from '../../../operator/resource/crd.ts'
import { rolesFor } from '../../../operator/resource/roles-for.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type OperatorProcess, startOperator } from './operator-process.ts'

const OWN = 'gateways'
const PATIENCE = { withinMs: 40_000 }
const LONG_MS = 150_000
const VALIDATING =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/svc-gateway'

const namespace = (name: string, labels: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
})

const SECURE = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

const pod = (place: string, name: string, labels: object = {}, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: place, name, labels },
  spec: {
    schedulerName: 'none',
    containers: [{ name: 'app', image: 'none', securityContext: SECURE }],
    ...spec,
  },
})

const ASKED = { 'gateway.svc.dev/inject': 'true' }

await describeWithKubernetes('sidecars', (plane) => {
  const directory = mkdtempSync(join(tmpdir(), 'sidecar-'))
  let operator: OperatorProcess
  let flags: readonly string[] = []

  const create = async (object: object, ...flags: readonly string[]) => {
    const { code, stdout, stderr } = await plane().kubectl(
      ['create', '-f', '-', '-o', 'json', ...flags],
      { input: JSON.stringify(object) },
    )
    return {
      code,
      text: stdout,
      stderr,
      isInjected: stdout.includes('"name": "svc-gateway"'),
    }
  }
  const hasSecret = async (place: string): Promise<boolean> => {
    const path = `/api/v1/namespaces/${place}/secrets/svc-gateway-management-tls`
    return (await plane().request({ path })).status === 200
  }

  beforeAll(async () => {
    const account = { serviceAccount: 'svc-operator', operatorNamespace: OWN }
    await plane().apply(customResourceDefinitions())
    const kubeconfig = await plane().serviceAccount(OWN, account.serviceAccount)
    await plane().apply([
      namespace('shop', { 'pod-security.kubernetes.io/enforce': 'restricted' }),
      namespace('dry'),
      namespace('closed'),
      namespace('labelled', ASKED),
    ])
    await plane().apply(
      rolesFor({
        ...account,
        namespaces: 'all',
        injection: true,
        dataPlaneNamespaces: [OWN, 'shop', 'labelled', 'dry'],
      }),
    )
    const port = await freePort()
    const file = join(directory, 'sidecar.yaml')
    writeFileSync(file, 'image: gateway:1\n')
    flags = [
      '--kubernetes',
      '--status=127.0.0.1:0',
      `--namespace=${OWN}`,
      `--sidecar=${file}`,
      `--kubeconfig=${kubeconfig}`,
      `--webhook=127.0.0.1:${port}`,
      `--webhook-url=https://127.0.0.1:${port}`,
    ]
    operator = await startOperator(flags)
    await eventually(async () => {
      const { isInjected } = await create(pod('dry', 'probe', ASKED), '--dry-run=server')
      if (!isInjected) throw new Error('the webhook is not asked yet')
    }, PATIENCE)
  }, LONG_MS)

  afterAll(async () => {
    await operator.stop()
    rmSync(directory, { recursive: true })
  })

  it('a dry run writes nothing', async () => {
    expect(await hasSecret('dry')).toBe(false)
  })

  it('a pod that is labelled gets one, under restricted Pod Security, and its Secret is there', async () => {
    const made = await create(pod('shop', 'app', ASKED))
    expect([made.code, made.stderr, made.isInjected]).toEqual([0, '', true])
    expect(await hasSecret('shop')).toBe(true)
  })

  it('of a labelled namespace all do but those that opt out', async () => {
    expect((await create(pod('labelled', 'one'))).isInjected).toBe(true)
    const out = await create(pod('labelled', 'two', { 'gateway.svc.dev/inject': 'false' }))
    expect([out.code, out.isInjected]).toEqual([0, false])
    expect((await create(pod('shop', 'unasked'))).isInjected).toBe(false)
  })

  it('where no Secret may be made it comes all the same, with the command that allows it', async () => {
    const made = await create(pod('closed', 'app', ASKED))
    expect([made.code, made.isInjected]).toEqual([0, true])
    expect(made.stderr).toContain('kubectl create rolebinding svc-gateway-certificate-writer')
  })

  it('with the network of its node it comes without one', async () => {
    const made = await create(pod('closed', 'host', ASKED, { hostNetwork: true }))
    expect([made.code, made.isInjected]).toEqual([0, false])
    expect(made.stderr).toContain('hostNetwork')
  })

  it('while the operator is away pods come as they are', async () => {
    await operator.kill()
    const made = await create(pod('shop', 'alone', ASKED))
    expect([made.code, made.isInjected]).toEqual([0, false])
    operator = { ...operator, stop: () => Promise.resolve() }
  })

  it(
    'an operator that is back tells which pods have none, and of none that opted out',
    async () => {
      operator = await startOperator(flags)
      await eventually(async () => {
        const metrics = await (await fetch(`${operator.url}/metrics`)).text()
        expect(metrics).toMatch(/^svc_operator_pods_without_gateway 2$/m)
      }, PATIENCE)
      const status = JSON.stringify(await operator.page('/status'))
      expect(status).toContain('have none: closed/host, shop/alone.')
    },
    LONG_MS,
  )

  it(
    'without --sidecar the API server asks no operator about pods any more',
    async () => {
      const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-gateway'
      expect((await plane().request({ path })).status).toBe(200)
      await operator.stop()
      operator = await startOperator(flags.filter((flag) => !flag.startsWith('--sidecar=')))
      await eventually(async () => {
        expect((await plane().request({ path })).status).toBe(404)
      }, PATIENCE)
      expect((await plane().request({ path: VALIDATING })).status).toBe(200)
    },
    LONG_MS,
  )

  it(
    'without --webhook it asks none about documents either, and nothing of it stays behind',
    async () => {
      await operator.stop()
      operator = await startOperator(
        flags.filter((flag) => !flag.startsWith('--sidecar=') && !flag.startsWith('--webhook=')),
      )
      await eventually(async () => {
        expect((await plane().request({ path: VALIDATING })).status).toBe(404)
      }, PATIENCE)
    },
    LONG_MS,
  )
})
