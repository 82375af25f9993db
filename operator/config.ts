// The command line, environment and configuration file in; the operator's typed settings out. The only file
// of the operator that reads the environment.

import { readFileSync } from 'node:fs'
import { COMPILE_SETTINGS } from '../compiler/limits.ts'
import { CLUSTER_DOMAIN_SETTING } from '../language/service-name.ts'
import { type ParsedSettings, parseSettings } from '../telemetry/settings.ts'
import type { Address, Settings, SettingsTable } from '../telemetry/settings-table.ts'
import { parseAddress } from '../telemetry/settings-value.ts'
import { MANAGEMENT_SETTINGS } from './management-settings.ts'
import { LEASE } from './resource/roles-for.ts'
import { QUOTA_SETTINGS } from './quota-settings.ts'
import { faultOfUrl } from './fleet/static-data-planes.ts'

/** Behaviour §9. A feature that does not exist yet has no setting. */
export const SETTINGS = {
  program: 'svc-operator',
  summary: 'brings gateways into line with ApiSpecification and Realm resources',
  envPrefix: 'SVC_OPERATOR_',
  commands: {
    validate: {
      operands: 'FILE…',
      help: 'judge manifests or plain documents (files, directories, - for stdin); exit 1 if any is wrong',
    },
    import: {
      operands: 'URL',
      help: 'write what the gateway with this management address holds as manifests, to stdout or --out',
    },
    uninstall: {
      help: 'remove from a cluster what the operator made there: certificates, webhook configurations, its Lease',
    },
    release: {
      help: 'say in the status of resources outside of --namespaces that the operator watches them no more',
    },
  },
  settings: {
    manifests: {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      help: 'directory of the YAML one would `kubectl apply`, watched',
    },
    kubernetes: {
      type: 'boolean',
      default: false,
      help: 'resources, data planes and leadership from a Kubernetes API server: that of the pod, or of a kubeconfig',
    },
    kubeconfig: {
      type: 'path',
      default: null,
      help: "with --kubernetes, uninstall and release: its current context is taken; else $KUBECONFIG, the pod's service account, ~/.kube/config",
    },
    namespace: {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      help: "namespace of the operator's Lease and certificates; that of the pod or the context if left out. import: of the manifests",
    },
    out: {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      help: 'import: write a file for each document and realm there; none is overwritten',
    },
    'service-account': {
      type: 'string',
      default: 'svc-operator',
      placeholder: 'NAME',
      help: 'what the operator runs as, for the commands that it prints',
    },
    namespaces: {
      type: 'list',
      default: ['all'],
      placeholder: 'NAME,…|all',
      expected: 'namespaces, or all',
      help: 'where ApiSpecifications, Realms and sidecars are watched',
    },
    'data-plane-namespaces': {
      type: 'list',
      default: [],
      placeholder: 'NAME,…',
      expected: 'namespaces',
      help: "where the gateways of the shared pool run; the operator's own namespace if left out",
    },
    'host-ownership': {
      type: 'enum',
      values: ['strict', 'shared'],
      default: 'strict',
      help: 'strict: with --kubernetes a host belongs to the namespace of its oldest document',
    },
    'wildcard-namespaces': {
      type: 'list',
      default: [],
      placeholder: 'NAME,…|all',
      expected: 'namespaces, or all',
      help: 'whose documents may have _ and wildcards as host, with --kubernetes; others by annotation of their namespace',
    },
    destinations: {
      type: 'enum',
      values: ['any', 'own'],
      default: 'any',
      help: 'own: with --kubernetes documents reach Services of their own namespace and what is outside of the cluster; an annotation of a Namespace decides for it',
    },
    'cluster-domain': CLUSTER_DOMAIN_SETTING,
    'service-endpoints': {
      type: 'boolean',
      default: true,
      help: 'with --kubernetes watch the Services that documents name, and tell gateways which Pods of them are ready',
    },
    ...QUOTA_SETTINGS,
    lease: {
      type: 'string',
      default: LEASE,
      placeholder: 'NAME',
      help: 'the Lease by which one of several operators leads',
    },
    identity: {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      help: 'name of this replica in the Lease; that of the host if left out',
    },
    'data-plane-tls': {
      type: 'boolean',
      default: true,
      help: 'mutual TLS to pods, with certificates that the operator makes; without it pods on loopback only',
    },
    webhook: {
      type: 'custom',
      default: 'off',
      placeholder: 'ADDR|off',
      parse: parseStatus,
      expected: 'host:port, [::1]:port, :port (every address), unix:/path or off',
      help: 'where the webhooks answer, in HTTPS',
    },
    'webhook-service': {
      type: 'string',
      default: 'svc-operator',
      placeholder: 'NAME',
      help: 'the Service, on port 443, by which the API server reaches --webhook',
    },
    'webhook-url': {
      type: 'string',
      default: null,
      placeholder: 'URL',
      help: 'reach --webhook by this URL instead: an operator outside of the cluster',
    },
    sidecar: {
      type: 'path',
      default: null,
      needs: ['webhook'],
      help: 'what the gateway is that --webhook puts into pods labelled gateway.svc.dev/inject: "true", YAML; re-read on change',
    },
    health: {
      type: 'custom',
      default: 'off',
      placeholder: 'ADDR|off',
      parse: parseStatus,
      expected: 'host:port, [::1]:port, :port (every address), unix:/path or off',
      help: 'where /livez, /readyz and /metrics are answered in plain HTTP, for probes and Prometheus',
    },
    'data-planes': {
      type: 'list',
      default: ['http://127.0.0.1:18081'],
      placeholder: 'URL,…',
      expected: 'management URLs: https://host:port, http://127.0.0.1:port or unix:/path',
      help: 'management addresses of the gateways; plain http to loopback only',
    },
    manager: {
      type: 'string',
      default: 'svc-operator',
      placeholder: 'NAME',
      help: 'name under which gateways are managed, as their --managed has it',
    },
    class: {
      type: 'string',
      default: 'svc',
      placeholder: 'NAME',
      help: 'gatewayClassName of the ApiSpecifications and Realms that are served',
    },
    'deleted-realm-seconds': {
      type: 'duration',
      default: 60,
      max: 3_600,
      help: 'a deleted Realm is served on for so long; 0: it is revoked at once, as with its annotation gateway.svc.dev/delete-now: "true"',
    },
    'withhold-seconds': {
      type: 'duration',
      default: 300,
      max: 86_400,
      help: 'how long documents of one namespace that others serve and a fresh gateway refuses may keep gateways out of service; 0: never',
    },
    status: {
      type: 'custom',
      default: '127.0.0.1:18085',
      placeholder: 'ADDR|off',
      parse: parseStatus,
      expected: 'host:port, [::1]:port, :port (every address), unix:/path or off',
      help: 'where /status, /ping, /ready and /metrics are answered in plain HTTP',
    },
    ...MANAGEMENT_SETTINGS,
    ...COMPILE_SETTINGS,
    once: {
      type: 'boolean',
      default: false,
      help: 'end when everything has been sent: exit 0 if all is Ready, else 1',
    },
    json: {
      type: 'boolean',
      default: false,
      help: 'validate: print the findings as JSON',
    },
    'log-level': {
      type: 'enum',
      values: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      help: 'least level of the log on stderr',
    },
  },
} as const satisfies SettingsTable

export type OperatorSettings = Settings<typeof SETTINGS>

/** What the table alone says of a value, then what several settings say together. */
export const readOperatorSettings = (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  readConfigFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): ParsedSettings<typeof SETTINGS> => {
  const parsed = parseSettings(SETTINGS, argv, env, readConfigFile)
  if (parsed.kind !== 'settings') return parsed
  const message =
    parsed.command === null
      ? findConflict(parsed.settings)
      : findFaultyOperands(parsed.command, parsed.operands)
  return message === undefined ? parsed : { kind: 'fault', message }
}

const findFaultyOperands = (command: string, operands: readonly string[]): string | undefined => {
  const [first] = operands
  if (command === 'validate')
    return first === undefined ? 'validate: name the files to judge, or - for stdin' : undefined
  if (command !== 'import') return undefined
  if (first === undefined || operands.length > 1)
    return 'import: name the management address of one gateway, such as http://127.0.0.1:18081'
  const fault = faultOfUrl(first)
  return fault && `import: '${withoutUser(first).slice(0, 200)}': ${fault}`
}

const findConflict = (settings: OperatorSettings): string | undefined => {
  const { manifests, kubernetes, once } = settings
  if (manifests !== null && kubernetes)
    return '--kubernetes: resources come from there or from --manifests, not from both'
  if (kubernetes) return once ? '--once: it goes with --manifests' : findFaultOnKubernetes(settings)
  if (settings.kubeconfig !== null) return '--kubeconfig: needs --kubernetes too'
  if (settings.namespace !== null) return '--namespace: needs --kubernetes too'
  if (manifests === null)
    return '--manifests: name the directory that holds the resources, or say --kubernetes'
  return findFaultyPlane(settings)
}

/** What tells where the API server is, as kubectl reads it. */
export const clusterEnvironment = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string | undefined>> => env

const findFaultOnKubernetes = (settings: OperatorSettings): string | undefined => {
  // Nothing to watch would read like nothing that stands: all would be deleted.
  if (settings.namespaces.length === 0) return '--namespaces: name one at least, or all'
  if (!DNS_NAME.test(settings.manager))
    return '--manager: it stands in a certificate, so it must be a DNS name, such as svc-operator'
  return findFaultyWebhook(settings)
}

const DNS_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** The path is ours to add. */
const findFaultyWebhook = ({ webhookUrl }: OperatorSettings): string | undefined => {
  if (webhookUrl === null) return undefined
  const url = URL.canParse(webhookUrl) ? new URL(webhookUrl) : undefined
  // Certificates of ours hold no IPv6 addresses.
  return url?.protocol === 'https:' &&
    url.pathname === '/' &&
    url.search === '' &&
    !url.hostname.startsWith('[')
    ? undefined
    : '--webhook-url: only https://host:port is wanted, with a name or an IPv4 address; the path is added'
}

const findFaultyPlane = ({ dataPlanes }: OperatorSettings): string | undefined => {
  if (dataPlanes.length === 0) return '--data-planes: name at least one gateway'
  if (new Set(dataPlanes).size !== dataPlanes.length) return '--data-planes: one is named twice'
  for (const url of dataPlanes) {
    const fault = faultOfUrl(url)
    if (fault !== undefined) return `--data-planes: '${withoutUser(url).slice(0, 200)}': ${fault}`
  }
  return undefined
}

/** What stands before an @ may be a password. */
const withoutUser = (url: string): string => url.replace(/[^/]*@/g, '…@')

function parseStatus(text: string): Address | 'off' | undefined {
  return text === 'off' ? 'off' : parseAddress(text)
}
