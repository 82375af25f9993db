// Manifests of anybody go the whole way: read, reconciled together, validated by `svc validate`. One of them may be
// refused; nothing is thrown, and what stands beside it in the file is served.

import { readdirSync, readFileSync } from 'node:fs'
import { parseYaml } from '../../../operator/manifests/parse-yaml.ts'
import { readManifest } from '../../../operator/manifests/read-manifest.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { API_VERSION, keyOf } from '../../../operator/resource/resource.ts'
import { realmRecord } from '../../../operator/resource/realm-record.ts'
import { validateFiles } from '../../../cli/validate/validate-files.ts'
import type { Value } from '../../../language/expression/value.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateJsonText } from '../mutate.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const EXAMPLES = new URL('../../../examples/', import.meta.url)
const MAX_BYTES = 24_000

const list = (items: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))

const FULL = [
  {
    apiVersion: API_VERSION,
    kind: 'ApiSpecification',
    metadata: { name: 'orders', namespace: 'shop', labels: { a: 'b' }, annotations: { c: 'd' } },
    spec: {
      document: aSpecification('orders'),
      variablesFrom: [
        { name: 'v', secretRef: { name: 's', key: 'k' } },
        { secretRef: { name: 's' } },
      ],
      dataPlaneSelector: {
        matchLabels: { edge: 'yes' },
        matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }],
      },
    },
  },
  {
    apiVersion: API_VERSION,
    kind: 'ApiSpecification',
    metadata: { name: 'mapped', namespace: 'shop' },
    spec: { documentFrom: { configMap: { name: 'c', key: 'k' } } },
  },
  {
    apiVersion: API_VERSION,
    kind: 'Realm',
    metadata: { name: 'shop', namespace: 'shop' },
    spec: {
      uri: 'com.shop',
      allowedNamespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } },
      router: {
        url: 'ws://r',
        auth: { method: 'ticket', secret: { secretRef: { name: 's', key: 'k' } } },
      },
      users: [
        { username: 'u', passwordHash: { secretRef: { name: 's', key: 'k' } }, meta: { a: 1 } },
      ],
      credentials: {
        c: {
          origins: ['https://a.test'],
          bearer: { token: { secretRef: { name: 's', key: 'k' } } },
          allowedNamespaces: { from: 'All' },
        },
      },
      info: {
        oidcProviders: {
          default: {
            issuer: 'https://idp.test',
            clientId: 'x',
            clientSecret: { secretRef: { name: 's', key: 'k' } },
            redirectUri: 'https://api.test/v1/oidc/default/callback',
          },
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'shop' },
    data: { k: 'YQ==' },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'shop' },
    data: { k: JSON.stringify(aSpecification('mapped')) },
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'a' } } },
]

/** Stand in every cache, and are served whatever is in the file. */
const BESIDE = [
  resourceOf('Realm', 'beside', { spec: { uri: 'com.beside' } }, { namespace: 'beside' }),
  resourceOf(
    'ApiSpecification',
    'beside',
    { spec: { document: aSpecification('com.beside.api', { realm_uri: 'com.beside' }) } },
    { namespace: 'beside', createdAt: 0 },
  ),
]

const check = (input: Buffer): string => {
  const { entries, problems: faults } = readManifest(input.toString(), 'fuzz.json')
  // What an operator gets from the same text is what `svc validate` sees.
  const { diagnostics } = validateFiles([{ name: 'fuzz.json', text: input.toString() }])
  const reconciler = new Reconciler({
    className: 'svc',
    onFailure: (key, error) => {
      throw new Error(`the reconciler failed on ${key}`, { cause: error })
    },
  })
  const resources = entries.map(({ resource }) => resource)
  const { desired } = reconciler.reconcile(cacheOf([...resources, ...BESIDE]))
  if (!desired.documents.has('com.beside.api')) throw new Error('a document beside is not served')
  for (const resource of resources)
    if (resource.kind === 'Realm' && 'spec' in resource.checked)
      realmRecord(resource.checked.spec, () => 'x')
  const keys = new Set(resources.map(keyOf))
  const words = diagnostics.map(
    ({ code, path }) => `${code} ${path.split('/').slice(0, 3).join('/')}`,
  )
  return `${keys.size} ${faults.length} ${[...new Set(words)].slice(0, 2).join()}`
}

const MANIFESTS = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => {
    const parsed = parseYaml(readFileSync(new URL(name, EXAMPLES), 'utf8'))
    if ('error' in parsed) throw new Error(parsed.error.message)
    return list(parsed.documents.map(({ value }) => value))
  })

const KEYS = [
  'apiVersion',
  'kind',
  'metadata',
  'name',
  'namespace',
  'labels',
  'annotations',
  'creationTimestamp',
  'spec',
  'status',
  'document',
  'documentFrom',
  'configMap',
  'variablesFrom',
  'secretRef',
  'dataPlaneSelector',
  'matchLabels',
  'matchExpressions',
  'values',
  'gatewayClassName',
  'allowedNamespaces',
  'selector',
  'router',
  'users',
  'info',
  'oidcProviders',
  'credentials',
  'signingKeys',
  'allowedHosts',
  'data',
  'stringData',
  'binaryData',
]

const LEAVES: readonly Value[] = [
  null,
  null,
  null,
  [null],
  { '': null },
  API_VERSION,
  'v1',
  'ApiSpecification',
  'Realm',
  'Secret',
  'ConfigMap',
  'Namespace',
  'List',
  'shop',
  'other',
  'com.shop',
  'Selector',
  'svc',
  '*',
  'YQ==',
  '{}',
  '{{variables.v}}',
  { secretRef: { name: 's', key: 'k' } },
  { secretRef: null },
  { configMap: { name: 'c', key: 'k' } },
]

export const resources: FuzzTarget = {
  name: 'resources',
  seeds: [list(FULL), ...FULL.map((each) => list([each])), ...MANIFESTS],
  mutate: (input, random, pool) =>
    mutateJsonText(input, { random, pool, keys: KEYS, leaves: LEAVES, maxBytes: MAX_BYTES }),
  open: () => ({ check }),
}
