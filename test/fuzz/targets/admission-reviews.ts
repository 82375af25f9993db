// AdmissionReviews come from any client that reaches the port: each is answered for its own uid, in bounded words, with a patch
// that fits its Pod, or is none that is known. Nothing is thrown.

import { createInjector } from '../../../operator/admission/inject-review.ts'
import { readSidecarSettings } from '../../../operator/admission/inject-settings.ts'
import {
  type AdmissionResponse,
  type AdmissionRequest,
  readReview,
  reviewResponse,
} from '../../../operator/admission/review.ts'
import { validateReview } from '../../../operator/admission/validate-review.ts'
import { API_VERSION, GROUP } from '../../../operator/resource/resource.ts'
import type { Value } from '../../../language/expression/value.ts'
import { createLog } from '../../../telemetry/log.ts'
import { applyPatch } from '../../support/json-patch.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aSpecification } from '../../support/resources.ts'
import type { Checker, FuzzTarget } from '../fuzz.ts'
import { mutateJsonText } from '../mutate.ts'

const review = (request: object): Buffer =>
  Buffer.from(
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { uid: 'u1', operation: 'CREATE', namespace: 'shop', name: 'a', ...request },
    }),
  )

const POD = {
  metadata: {
    generateName: 'app-',
    labels: { [`${GROUP}/inject`]: 'true' },
    annotations: { [`${GROUP}/app-port`]: '8080', [`${GROUP}/memory-limit`]: '256Mi' },
  },
  spec: {
    initContainers: [{ name: 'init', image: 'i' }],
    containers: [
      { name: 'app', image: 'app:1', ports: [{ containerPort: 8080 }], lifecycle: {} },
      { name: 'b', image: 'b:1' },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    terminationGracePeriodSeconds: 30,
  },
}

const ours = (kind: string, spec: object): object => ({
  kind: { group: GROUP, version: 'v1alpha1', kind },
  object: { apiVersion: API_VERSION, kind, metadata: { name: 'a', namespace: 'shop' }, spec },
})

const PROVIDER = {
  issuer: 'https://idp.test',
  clientId: 'x',
  clientSecret: { secretRef: { name: 's', key: 'k' } },
  redirectUri: 'https://api.test/oidc/a/callback',
}

const SEEDS = [
  review({ kind: { group: '', version: 'v1', kind: 'Pod' }, object: POD }),
  review(ours('ApiSpecification', { document: aSpecification('orders') })),
  review(
    ours('ApiSpecification', {
      document: aSpecification('orders', { host: 'a..b', variables: { a: '{{variables.b}}' } }),
      variablesFrom: [{ name: 'b', secretRef: { name: 's', key: 'k' } }],
    }),
  ),
  review(ours('Realm', { uri: 'com.shop', info: { oidcProviders: { a: PROVIDER } } })),
  review({
    ...ours('Realm', { uri: 'com.shop', router: { url: 'ftp://x' } }),
    operation: 'UPDATE',
    oldObject: { spec: { uri: 'com.shop' } },
    options: { fieldManager: 'kubectl' },
  }),
]

const KEYS = [
  'apiVersion',
  'kind',
  'request',
  'uid',
  'operation',
  'namespace',
  'object',
  'oldObject',
  'options',
  'metadata',
  'labels',
  'annotations',
  'spec',
  'document',
  'documentFrom',
  'variablesFrom',
  'containers',
  'initContainers',
  'volumes',
  'lifecycle',
  'preStop',
  'resources',
  'hostNetwork',
  'secretRef',
  'router',
  'signingKeys',
  'info',
  'oidcProviders',
  'users',
  'gatewayClassName',
  'dataPlaneSelector',
  'ports',
  'name',
  `${GROUP}/port`,
  `${GROUP}/app-port`,
  `${GROUP}/ready`,
  `${GROUP}/cpu-limit`,
  `${GROUP}/data-plane`,
]

const LEAVES: readonly Value[] = [
  'Pod',
  'Realm',
  'ApiSpecification',
  GROUP,
  API_VERSION,
  'CREATE',
  'UPDATE',
  'DELETE',
  'kubectl',
  'true',
  'svc',
  '8080',
  '80',
  '99999',
  '8080,8081',
  '1e3Mi',
  '500m',
  '{{variables.a}}',
  '{{',
  'svc-gateway',
  { secretRef: { name: 's', key: 'k' } },
  { name: 'app' },
  { exec: {} },
  [{}],
  [[]],
  65_535,
]

class Reviews implements Checker {
  readonly #faults: string[] = []
  readonly #inject = createInjector({
    manager: 'svc-operator',
    settings: () => {
      const read = readSidecarSettings({ image: 'gateway:1' })
      return 'settings' in read ? Promise.resolve(read.settings) : Promise.reject(new Error('no'))
    },
    ensureNamespaceCertificate: () => Promise.resolve(undefined),
    operatorNamespace: 'gateways',
    namespaces: 'all',
    clock: createManualClock(),
    log: createLog({
      level: 'error',
      name: 'fuzz',
      destination: { write: (line) => this.#faults.push(line) },
    }),
  })

  async check(input: Buffer): Promise<string> {
    const request = readReview(parsed(input))
    if (request === undefined) return 'no review'
    const validated = await validateReview(request, { className: 'svc' })
    checkResponse(request, validated)
    const injected = await this.#inject(request)
    checkResponse(request, injected)
    if (!injected.allowed) throw new Error('a Pod is refused')
    if (injected.patch !== undefined) checkPatch(request, injected.patch)
    const faults = this.#faults.splice(0)
    if (faults.length > 0) throw new Error(`the injector failed: ${faults.join('')}`)
    return [
      request.kind.slice(0, 20),
      validated.allowed ? 'allowed' : (validated.causes[0]?.reason ?? ''),
      injected.patch === undefined ? '' : 'patched',
      (injected.warnings[0] ?? '').slice(0, 30),
    ].join(' ')
  }
}

const parsed = (input: Buffer): unknown => {
  try {
    return JSON.parse(input.toString())
  } catch {
    return undefined
  }
}

/** What kubectl prints must stay readable, and in headers. */
const checkResponse = (request: AdmissionRequest, response: AdmissionResponse): void => {
  const sent = JSON.parse(JSON.stringify(reviewResponse(request, response))) as {
    readonly response: { readonly uid: string; readonly allowed: boolean }
  }
  if (sent.response.uid !== request.uid) throw new Error('the response has another uid')
  const texts = response.allowed
    ? []
    : [response.message, ...response.causes.map((each) => each.message)]
  if (texts.some((text) => text.length > 31_000)) throw new Error('a message is too long')
  if (response.warnings.length > 40) throw new Error(`${response.warnings.length} warnings`)
  for (const warning of response.warnings)
    if (warning.length > 256 || /\p{Cc}/u.test(warning)) throw new Error(`the warning ${warning}`)
}

const checkPatch = ({ object }: AdmissionRequest, patch: readonly object[]): void => {
  const patched = applyPatch(object, patch as Parameters<typeof applyPatch>[1]) as {
    readonly spec?: { readonly initContainers?: readonly ({ readonly name?: unknown } | null)[] }
  }
  const gateways =
    patched.spec?.initContainers?.filter((each) => each?.name === 'svc-gateway') ?? []
  if (gateways.length !== 1) throw new Error(`a Pod with ${gateways.length} gateways`)
}

export const admissionReviews: FuzzTarget = {
  name: 'admission-reviews',
  seeds: SEEDS,
  mutate: (input, random, pool) =>
    mutateJsonText(input, { random, pool, keys: KEYS, leaves: LEAVES, maxBytes: 16_000 }),
  open: () => new Reviews(),
}
