// Reads the operator's typed settings from the command line, the environment and a configuration file. The only file of
// the operator that reads the environment.

import { readFileSync } from 'node:fs'
import { COMPILE_SETTINGS } from '../compiler/limits.ts'
import { CLUSTER_DOMAIN_SETTING } from '../language/service-name.ts'
import { type ParsedSettings, parseSettings } from '../telemetry/settings.ts'
import type { Address, ReasonedTable, Settings } from '../telemetry/settings-table.ts'
import { parseAddress } from '../telemetry/settings-value.ts'
import { MANAGEMENT_SETTINGS } from './management-settings.ts'
import { LEASE } from './resource/roles-for.ts'
import { QUOTA_SETTINGS } from './quota-settings.ts'
import { urlErrorOf, withoutUser } from './fleet/static-data-planes.ts'

/** Behaviour §9. A feature that does not exist yet has no setting. */
export const SETTINGS = {
  program: 'svc-operator',
  summary: 'brings gateways into line with ApiSpecification and Realm resources',
  envPrefix: 'SVC_OPERATOR_',
  commands: {
    uninstall:
      'remove what the operator created in a cluster: certificates, webhook configurations, its Lease',
    release:
      'write into the status of resources outside of --namespaces that the operator no longer watches them',
  },
  common: [
    'manifests',
    'kubernetes',
    'namespace',
    'namespaces',
    'data-planes',
    'manager',
    'class',
    'host-ownership',
    'webhook',
    'health',
    'status',
    'once',
    'log-level',
  ],
  settings: {
    manifests: {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      help: 'directory with manifests, or one file, as for `kubectl apply`; watched for changes',
      reason: 'an operator without Kubernetes',
    },
    kubernetes: {
      type: 'boolean',
      default: false,
      help: 'take resources, data planes and leadership from a Kubernetes API server: that of the pod, or of a kubeconfig',
      reason: 'an operator of a cluster',
    },
    kubeconfig: {
      type: 'path',
      default: null,
      help: "kubeconfig whose current context is used by --kubernetes, uninstall and release; if left out $KUBECONFIG, the pod's service account, ~/.kube/config",
      reason: 'an operator, or a person, outside of the cluster',
    },
    namespace: {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      help: "namespace of the operator's Lease and certificates; that of the pod or the context if left out",
      reason: 'an operator outside of the cluster, whose own namespace nothing names',
    },
    namespaces: {
      type: 'list',
      default: ['all'],
      placeholder: 'NAME,…|all',
      expected: 'namespaces, or all',
      help: 'namespaces whose ApiSpecifications, Realms and sidecars are watched',
      reason:
        'tenants with an operator of their own, and accounts without rights in all namespaces',
    },
    'data-plane-namespaces': {
      type: 'list',
      default: [],
      placeholder: 'NAME,…',
      expected: 'namespaces',
      help: "namespaces of the gateways of the shared pool; the operator's own namespace if left out",
      reason: 'gateways that run apart from the operator',
    },
    'host-ownership': {
      type: 'enum',
      values: ['strict', 'shared'],
      default: 'strict',
      help: 'with --kubernetes, strict: a host belongs to the namespace of its oldest document; shared: to no namespace',
      reason: 'clusters of one team, whose namespaces share hosts',
    },
    'wildcard-namespaces': {
      type: 'list',
      default: [],
      placeholder: 'NAME,…|all',
      expected: 'namespaces, or all',
      help: 'with --kubernetes: namespaces whose documents may have _ and wildcards as host; others need an annotation of their Namespace',
      reason: 'platform teams that serve whatever no tenant has',
    },
    destinations: {
      type: 'enum',
      values: ['any', 'own'],
      default: 'any',
      help: 'with --kubernetes, own: documents reach Services of their own namespace and hosts outside of the cluster; an annotation of a Namespace overrides it',
      reason: 'clusters of tenants who must not reach each other',
    },
    'cluster-domain': CLUSTER_DOMAIN_SETTING,
    'service-endpoints': {
      type: 'boolean',
      default: true,
      help: 'with --kubernetes: watch the Services that documents name, and send gateways the addresses of their ready Pods',
      reason: 'turn it off where the operator may not read Services, or a mesh balances',
    },
    ...QUOTA_SETTINGS,
    lease: {
      type: 'string',
      default: LEASE,
      placeholder: 'NAME',
      help: 'name of the Lease by which the replicas of the operator elect a leader',
      reason: 'several operators in one namespace',
    },
    identity: {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      help: 'name of this replica in the Lease; the host name if left out',
      reason: 'replicas with the same host name',
    },
    'data-plane-tls': {
      type: 'boolean',
      default: true,
      help: 'use mutual TLS to pods, with certificates that the operator issues; without it only pods on loopback are possible',
      reason: 'turn it off where operator and gateways share a Pod',
    },
    webhook: {
      type: 'custom',
      default: 'off',
      placeholder: 'ADDR|off',
      parse: parseStatus,
      expected: 'host:port, [::1]:port, :port (every address), unix:/path or off',
      help: 'address on which the webhooks listen, in HTTPS',
      reason: 'authors who want faults from kubectl instead of conditions',
    },
    'webhook-service': {
      type: 'string',
      default: 'svc-operator',
      placeholder: 'NAME',
      help: 'Service through whose port 443 the API server reaches --webhook',
      reason: 'charts that name the Service otherwise',
    },
    'webhook-url': {
      type: 'string',
      default: null,
      placeholder: 'URL',
      help: 'URL by which the API server reaches --webhook instead, for an operator outside of the cluster',
      reason: 'an operator outside of the cluster',
    },
    sidecar: {
      type: 'path',
      default: null,
      needs: ['webhook'],
      help: 'YAML file with the settings of the gateway that --webhook adds to pods labelled gateway.svc.dev/inject: "true"; re-read on change',
      reason: 'applications with a gateway in their own Pod',
    },
    health: {
      type: 'custom',
      default: 'off',
      placeholder: 'ADDR|off',
      parse: parseStatus,
      expected: 'host:port, [::1]:port, :port (every address), unix:/path or off',
      help: 'address that serves /livez, /readyz and /metrics in plain HTTP, for probes and Prometheus',
      reason: 'kubelets and Prometheus: --status is on loopback',
    },
    'data-planes': {
      type: 'list',
      default: ['http://127.0.0.1:18081'],
      placeholder: 'URL,…',
      expected: 'management URLs: https://host:port, http://127.0.0.1:port or unix:/path',
      help: 'management addresses of the gateways; plain http only to loopback',
      reason: 'an operator without Kubernetes: nothing lists its gateways',
    },
    manager: {
      type: 'string',
      default: 'svc-operator',
      placeholder: 'NAME',
      help: 'name of the owner of the gateways, as in their --managed',
      reason: 'several operators with gateways of their own',
    },
    class: {
      type: 'string',
      default: 'svc',
      placeholder: 'NAME',
      help: 'gatewayClassName of the ApiSpecifications and Realms that this operator serves',
      reason: 'several operators that watch the same namespaces',
    },
    'deleted-realm-seconds': {
      type: 'duration',
      default: 60,
      max: 3_600,
      help: 'how long a deleted Realm stays in service; 0: it is removed at once, as with its annotation gateway.svc.dev/delete-now: "true"',
      reason: 'those who want a Realm gone at once, or more time to restore it',
    },
    'withhold-seconds': {
      type: 'duration',
      default: 300,
      max: 86_400,
      help: 'how long a new gateway may stay out of service because it rejects documents of a namespace that other gateways serve, so that no tenant stops a rollout for longer; 0: never',
      reason: 'rollouts of gateways that are older, or stricter, than those that serve',
    },
    status: {
      type: 'custom',
      default: '127.0.0.1:18085',
      placeholder: 'ADDR|off',
      parse: parseStatus,
      expected: 'host:port, [::1]:port, :port (every address), unix:/path or off',
      help: 'address that serves /status, /ping, /ready and /metrics in plain HTTP',
      reason: 'people and tools that ask what is served; turn it off where none do',
    },
    ...MANAGEMENT_SETTINGS,
    ...COMPILE_SETTINGS,
    once: {
      type: 'boolean',
      default: false,
      help: 'exit once everything has been sent: 0 if all resources are Ready, else 1',
      reason: 'a pipeline, which waits for the result',
    },
    'log-level': {
      type: 'enum',
      values: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      help: 'lowest level that is logged on stderr',
      reason: 'people who look for a fault, or pay by the line',
    },
  },
} as const satisfies ReasonedTable

export type OperatorSettings = Settings<typeof SETTINGS>

/** Checks each value by the table, then the combinations of settings. */
export const readOperatorSettings = (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  readConfigFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): ParsedSettings<typeof SETTINGS> => {
  const parsed = parseSettings(SETTINGS, argv, env, readConfigFile)
  if (parsed.kind !== 'settings') return parsed
  const message = parsed.command === null ? findConflict(parsed.settings) : undefined
  return message === undefined ? parsed : { kind: 'error', message }
}

const findConflict = (settings: OperatorSettings): string | undefined => {
  const { manifests, kubernetes, once } = settings
  if (manifests !== null && kubernetes) return '--kubernetes: cannot be combined with --manifests'
  if (kubernetes)
    return once ? '--once: works only with --manifests' : findKubernetesProblem(settings)
  if (settings.kubeconfig !== null) return '--kubeconfig: needs --kubernetes too'
  if (settings.namespace !== null) return '--namespace: needs --kubernetes too'
  if (manifests === null)
    return '--manifests: name the directory with the manifests, or set --kubernetes'
  return findDataPlaneProblem(settings)
}

/** The environment by which kubectl, too, finds the API server. */
export const clusterEnvironment = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string | undefined>> => env

const findKubernetesProblem = (settings: OperatorSettings): string | undefined => {
  // Without a namespace to watch there would be no resources, and everything would be deleted from gateways.
  if (settings.namespaces.length === 0) return '--namespaces: name at least one, or all'
  if (!DNS_NAME.test(settings.manager))
    return '--manager: must be a DNS name such as svc-operator, because it is part of a certificate'
  return findWebhookProblem(settings)
}

const DNS_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** Without a path: the operator adds it. */
const findWebhookProblem = ({ webhookUrl }: OperatorSettings): string | undefined => {
  if (webhookUrl === null) return undefined
  const url = URL.canParse(webhookUrl) ? new URL(webhookUrl) : undefined
  // Our certificates hold no IPv6 addresses.
  return url?.protocol === 'https:' &&
    url.pathname === '/' &&
    url.search === '' &&
    !url.hostname.startsWith('[')
    ? undefined
    : '--webhook-url: must be https://host:port, with a name or an IPv4 address and without a path'
}

const findDataPlaneProblem = ({ dataPlanes }: OperatorSettings): string | undefined => {
  if (dataPlanes.length === 0) return '--data-planes: name at least one gateway'
  if (new Set(dataPlanes).size !== dataPlanes.length)
    return '--data-planes: the same gateway is named twice'
  for (const url of dataPlanes) {
    const problem = urlErrorOf(url)
    if (problem !== undefined)
      return `--data-planes: '${withoutUser(url).slice(0, 200)}': ${problem}`
  }
  return undefined
}

function parseStatus(text: string): Address | 'off' | undefined {
  return text === 'off' ? 'off' : parseAddress(text)
}
