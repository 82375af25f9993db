// The webhook on a real API server, as the operator's own account: what kubectl prints, what a dead webhook does not
// prevent, and that certificates and CA are replaced while it is asked.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import {
  type AdmissionServer,
  startAdmissionServer,
} from '../../../operator/admission/admission-server.ts'
import { validateReview } from '../../../operator/admission/validate-review.ts'
import { webhookConfiguration } from '../../../operator/admission/webhook-configuration.ts'
import { WebhookManager } from '../../../operator/admission/webhook-manager.ts'
import { CertificateManager } from '../../../operator/certificates/certificate-manager.ts'
import { SECRET_NAMES } from '../../../operator/certificates/certificate-names.ts'
import { DEFAULT_POLICY } from '../../../operator/certificates/policy.ts'
import { readBundle, readCertificate } from '../../../operator/certificates/read-certificate.ts'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { type KubernetesApi, TYPES } from '../../../operator/kubernetes/client/api.ts'
import { createKubernetesApi } from '../../../operator/kubernetes/client/client.ts'
import { loadCluster } from '../../../operator/kubernetes/config/kubeconfig.ts'
import { customResourceDefinitions } from '../../../operator/resource/crd.ts'
import { WEBHOOK_CONFIGURATION } from '../../../operator/resource/roles.ts'
import { rolesFor } from '../../../operator/resource/roles-for.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { untilGranted, userOf } from '../../support/kubernetes/access-review.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { aSpecification } from '../../support/resources.ts'

const OWN = 'gateways'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PATIENCE = { withinMs: 30_000 }
const LONG_MS = 120_000

const API = '/apis/gateway.svc.dev/v1alpha1/namespaces/default/apispecifications'
const HEAD = { apiVersion: 'gateway.svc.dev/v1alpha1', kind: 'ApiSpecification' }

const specification = (name: string, document: object, metadata: object = {}): object => ({
  ...HEAD,
  metadata: { name, namespace: 'default', ...metadata },
  spec: { document },
})

const good = (id: string, more: object = {}): object => aSpecification(id, more)
const bad = (id: string): object => good(`_${id}`, { host: 'a..b', meta: 5 })

/** About 1.35 MB, or as much larger as there are more paths. */
const large = (id: string, more: object = {}, paths = 1_250): object => ({
  ...good(id, more),
  versions: {
    v1: {
      base_path: '/large',
      paths: Object.fromEntries(
        Array.from({ length: paths }, (_, i) => [
          `/path-${i}`,
          { get: { action: { type: 'static', body: 'x'.repeat(1000) }, response: {} } },
        ]),
      ),
    },
  },
})

await describeWithKubernetes('admission', (plane) => {
  // It runs months ahead of the API server's, which takes the certificates all the same.
  const clock = createManualClock({ startMs: Date.now() })
  const log = createSilentLog()
  let api: KubernetesApi
  let certificates: CertificateManager
  let webhook: WebhookManager
  let server: AdmissionServer
  let namespaces = [OWN, 'shop', 'closed', 'nowhere']
  /** New connections of the API server: it opens them when it has taken in another bundle. */
  let connections = 0

  const start = (port: number): Promise<AdmissionServer> =>
    startAdmissionServer({
      address: { kind: 'tcp', host: '127.0.0.1', port },
      certificate: () => {
        connections += 1
        return certificates.webhookCertificate()
      },
      paths: { '/validate': (review) => validateReview(review, { className: 'svc' }) },
      log,
    })

  const kubectl = async (args: readonly string[], object: object) => {
    const { code, stdout, stderr } = await plane().kubectl([...args, '-f', '-'], {
      input: JSON.stringify(object),
    })
    return { code, text: `${stdout}${stderr}` }
  }
  const apply = (object: object, ...flags: readonly string[]) =>
    kubectl(['apply', '--server-side', ...flags], object)
  /** Status of a creation that leaves nothing behind: 422 with a webhook that is asked, else 201. */
  const dryRun = async (document: object): Promise<number> => {
    const body = specification('dry', document)
    const response = await plane().request({ method: 'POST', path: `${API}?dryRun=All`, body })
    return response.status
  }
  /** Both keepers wait for the clock: what moves it is not lost on them. */
  const untilIdle = () =>
    eventually(() => {
      expect(clock.pending).toBe(2)
    }, PATIENCE)
  const untilOther = (before: unknown) =>
    eventually(async () => {
      const credentials = await certificates.credentialsFor('shop')
      expect(credentials).not.toBe(before)
      return credentials
    }, PATIENCE)
  const untilAsked = () =>
    eventually(async () => {
      expect([await dryRun(bad('dry')), webhook.failure]).toEqual([422, undefined])
    }, PATIENCE)

  beforeAll(async () => {
    const account = { serviceAccount: 'svc-operator', operatorNamespace: OWN }
    await plane().apply(customResourceDefinitions())
    const kubeconfig = await plane().serviceAccount(OWN, account.serviceAccount)
    await plane().apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'closed' } },
    ])
    await plane().apply(
      rolesFor({ ...account, namespaces: 'all', dataPlaneNamespaces: [OWN, 'shop'] }),
    )
    const cluster = await loadCluster({ kubeconfig, env: {}, clock: SYSTEM_CLOCK })
    api = createKubernetesApi({ cluster, clock: SYSTEM_CLOCK, log, userAgent: 'svc-operator/test' })
    certificates = new CertificateManager({
      api,
      clock,
      log,
      namespace: OWN,
      serviceAccount: account.serviceAccount,
      dataPlaneNamespaces: () => namespaces,
      clientName: 'operator.test',
      webhookNames: ['hook.gateways.svc', '127.0.0.1'],
      policy: { ...DEFAULT_POLICY, skewMs: 400 * DAY_MS },
      onChange: () => {
        webhook.check()
      },
    })
    // It comes back there.
    server = await start(await freePort())
    webhook = new WebhookManager({
      api,
      clock,
      log,
      name: WEBHOOK_CONFIGURATION,
      type: TYPES.validatingWebhookConfigurations,
      make: (caBundle) =>
        webhookConfiguration({
          name: WEBHOOK_CONFIGURATION,
          caBundle,
          namespaces: 'all',
          target: { url: server.url },
        }),
      caBundle: () => certificates.caBundle(),
    })
    // A keeper that is refused tries again when the clock moves, and it does not move yet.
    const user = userOf(OWN, account.serviceAccount)
    const secret = { user, verb: 'get', resource: 'secrets' }
    await untilGranted(plane(), { ...secret, namespace: OWN, name: SECRET_NAMES.authority })
    for (const namespace of [OWN, 'shop'])
      await untilGranted(plane(), { ...secret, namespace, name: SECRET_NAMES.server })
    await untilGranted(plane(), {
      user,
      verb: 'patch',
      name: WEBHOOK_CONFIGURATION,
      group: 'admissionregistration.k8s.io',
      resource: 'validatingwebhookconfigurations',
    })
    webhook.lead()
    certificates.lead()
    await untilAsked()
    await untilIdle()
  }, LONG_MS)

  afterAll(async () => {
    await webhook.stop()
    await certificates.stop()
    await server.close()
    await api.close()
  }, LONG_MS)

  it('the operator has made all its certificates, as far as it may', async () => {
    const secret = async (namespace: string, name: string): Promise<string> => {
      const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
      return demand(await plane().request({ path }), 200).text
    }
    for (const name of Object.values(SECRET_NAMES)) expect(await secret(OWN, name)).toContain('tls')
    expect(await secret('shop', SECRET_NAMES.server)).toContain('kubernetes.io/tls')
    expect([...certificates.failures.keys()]).toEqual(['closed', 'nowhere'])
    expect(certificates.failures.get('closed')).toContain('kubectl create rolebinding')
  })

  it('two operators that begin at once share one CA', async () => {
    await untilIdle()
    const before = await certificates.credentialsFor('shop')
    await plane().request({
      method: 'DELETE',
      path: `/api/v1/namespaces/${OWN}/secrets/${SECRET_NAMES.authority}`,
    })
    const other = new CertificateManager({
      api,
      clock,
      log,
      namespace: OWN,
      clientName: 'operator.test',
      dataPlaneNamespaces: () => [],
      webhookNames: ['hook.gateways.svc', '127.0.0.1'],
      onChange: () => undefined,
      policy: { ...DEFAULT_POLICY, skewMs: 400 * DAY_MS },
    })
    try {
      other.lead()
      clock.advance(2 * 60_000)
      const [one, two] = [await other.credentialsFor('shop'), await untilOther(before)]
      expect(two).toEqual(one)
      expect(readBundle(one.tls.ca)).toHaveLength(1)
    } finally {
      await other.stop()
    }
    await untilAsked()
  }, 60_000)

  it('kubectl prints every fault, with its pointer', async () => {
    const { code, text } = await apply(specification('faulty', bad('faulty')))
    expect(code).not.toBe(0)
    expect(text).toContain('validate.gateway.svc.dev')
    expect(text).toContain('3 problems in ApiSpecification default/faulty:')
    for (const pointer of ['host', 'id', 'meta'])
      expect(text).toMatch(new RegExp(`^/spec/document/${pointer}: .+$`, 'm'))
  })

  it('kubectl prints warnings', async () => {
    const object = specification('warned', good('warned', { colour: 'red' }))
    const server = await apply(object)
    expect(server).toMatchObject({ code: 0 })
    expect(server.text).toContain(
      "Warning: There is no property 'colour' here: it has no effect (/spec/document/colour)",
    )
    expect(server.text).not.toContain('--server-side')
    const client = await kubectl(['apply'], specification('classic', good('classic')))
    expect(client.text).toContain('Warning: use kubectl apply --server-side')
    const again = await apply(
      specification('classic', good('classic', { name: 'again' })),
      '--force-conflicts',
    )
    expect(again).toMatchObject({ code: 0 })
    expect(again.text).not.toContain('Warning')
  })

  it('1.35 MB are validated in time, good or bad; 2 MB are refused in words that help', async () => {
    expect(await dryRun(large('dry', { host: 'a..b' }))).toBe(422)
    expect(await dryRun(large('dry'))).toBe(201)
    const body = specification('dry', large('dry', {}, 1_900))
    const { status, text } = await plane().request({ method: 'POST', path: API, body })
    expect([status, text]).toEqual([422, expect.stringContaining('more than the limit of')])
  })

  it('a dead webhook prevents nothing; what came in meanwhile may be labelled, not changed', async () => {
    const port = Number(new URL(server.url).port)
    await server.close()
    expect(await apply(specification('unseen', bad('unseen')))).toMatchObject({ code: 0 })
    server = await start(port)
    await untilAsked()
    const label = await plane().kubectl(['label', 'apispecification', 'unseen', 'a=b'])
    expect(label.code).toBe(0)
    const patch = JSON.stringify({ spec: { document: { ...bad('unseen'), name: 'x' } } })
    const change = ['patch', 'apispecification', 'unseen', '--type=merge', `--patch=${patch}`]
    expect(await plane().kubectl(change)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('3 problems'),
    })
    expect((await plane().kubectl(['delete', 'apispecification', 'unseen'])).code).toBe(0)
  })

  it('a target that somebody has changed stays so and is reported, until the configuration is deleted', async () => {
    const kind = 'validatingwebhookconfiguration'
    const pass = async (isDone: () => boolean): Promise<void> => {
      await untilIdle()
      clock.advance(2 * 60_000)
      await eventually(() => {
        expect(isDone()).toBe(true)
      }, PATIENCE)
    }
    // What the API server adds by itself is no change of a person.
    expect(webhook.drift).toBeUndefined()
    const path = '/webhooks/0/clientConfig/url'
    const patch = JSON.stringify([{ op: 'replace', path, value: 'https://127.0.0.1:1/other' }])
    const edit = ['patch', kind, WEBHOOK_CONFIGURATION, '--type=json', `--patch=${patch}`]
    expect(await plane().kubectl(edit)).toMatchObject({ code: 0 })
    await pass(() => webhook.drift?.includes('calls https://127.0.0.1:1/other instead of') === true)
    const read = [
      'get',
      kind,
      WEBHOOK_CONFIGURATION,
      '-o',
      'jsonpath={.webhooks[0].clientConfig.url}',
    ]
    expect((await plane().kubectl(read)).stdout).toBe('https://127.0.0.1:1/other')

    expect((await plane().kubectl(['delete', kind, WEBHOOK_CONFIGURATION])).code).toBe(0)
    await pass(() => webhook.drift === undefined)
    await untilAsked()
  }, 60_000)

  it(
    'certificates and CA are replaced while it is called',
    async () => {
      // One that is closed would hold a new CA back until the old one nears its end.
      namespaces = [OWN, 'shop']
      const outcomes: number[] = []
      let isFlowing = true
      const flow = async (): Promise<void> => {
        while (isFlowing) outcomes.push(await dryRun(bad('dry')))
      }
      const flows = flow()
      const trusted = async (): Promise<readonly string[]> => {
        const name = { namespace: '', name: WEBHOOK_CONFIGURATION }
        const text = JSON.stringify(await api.get(TYPES.validatingWebhookConfigurations, name))
        const [, base64 = ''] = /"caBundle":"([^"]*)"/.exec(text) ?? []
        return readBundle(Buffer.from(base64, 'base64').toString()).map(({ x509 }) => x509.subject)
      }
      const issuer = (): string =>
        readCertificate(certificates.webhookCertificate()?.cert)?.x509.issuer ?? ''
      const pass = async (ms: number, isDone: () => boolean | Promise<boolean>): Promise<void> => {
        await untilIdle()
        const before = connections
        clock.advance(ms)
        await eventually(async () => {
          expect(await isDone()).toBe(true)
        }, PATIENCE)
        const asked = outcomes.length
        await eventually(() => {
          expect(connections).toBeGreaterThan(before)
          expect(outcomes.length).toBeGreaterThan(asked + 5)
        }, PATIENCE)
      }
      try {
        const old = issuer()
        await pass(250 * DAY_MS, async () => (await trusted()).length === 2)
        await pass(2 * HOUR_MS, async () => issuer() !== old && (await trusted())[0] === issuer())
        await pass(2 * HOUR_MS, async () => (await trusted()).length === 1)
      } finally {
        isFlowing = false
        await flows
      }
      expect(new Set(outcomes)).toEqual(new Set([422]))
    },
    LONG_MS,
  )
})
