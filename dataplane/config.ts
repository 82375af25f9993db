// Declares the settings of the data plane and reads them from the command line, the environment and the configuration
// file. It is the only file of the data plane that reads the environment.

import { readFileSync } from 'node:fs'
import { COMPILE_SETTINGS } from '../compiler/limits.ts'
import { parseAccessLogShare } from '../telemetry/access-log.ts'
import { isLocal } from '../telemetry/bound-address.ts'
import { parseSettings, type ParsedSettings } from '../telemetry/settings.ts'
import type { ReasonedTable, Settings } from '../telemetry/settings-table.ts'
import {
  isCidr,
  parseNodeName,
  parseOrigin,
  parseProcesses,
  parseRedisUrl,
} from './settings/values.ts'
import { REQUEST_LIMIT_SETTINGS } from './settings/request-limit-settings.ts'
import { TRACE_SETTINGS } from './settings/trace-settings.ts'
import { UPSTREAM_SETTINGS } from './settings/upstream-settings.ts'

/** Behaviour §9. A feature that does not exist yet has no setting. */
export const SETTINGS = {
  program: 'svc-gateway',
  summary: 'HTTP API gateway that serves declarative API Specifications',
  envPrefix: 'SVC_GATEWAY_',
  commands: {
    drain:
      'start draining the running gateway (--pid-file, else process 1 of the container); returns after --drain-delay-seconds',
  },
  common: [
    'public',
    'public-tls',
    'tls-cert',
    'tls-key',
    'management',
    'management-token-file',
    'health',
    'base-url',
    'trusted-proxies',
    'managed',
    'state-dir',
    'redis',
    'processes',
    'log-level',
    'access-log',
  ],
  settings: {
    public: {
      type: 'address',
      default: '0.0.0.0:18080',
      help: 'address where clients connect in plain HTTP',
      reason:
        'everyone: clients connect here; off the default where the port is taken or only one address may serve',
    },
    'public-tls': {
      type: 'address',
      default: null,
      help: 'address where clients connect with TLS; needs --tls-cert and --tls-key, or --tls-dir',
      reason: 'gateways that clients reach without a balancer which ends TLS',
    },
    'tls-cert': {
      type: 'path',
      default: null,
      needs: ['public-tls', 'tls-key'],
      help: 'file with the certificate chain of --public-tls, PEM; read again when it changes',
      reason: 'gateways with one certificate',
    },
    'tls-key': {
      type: 'path',
      default: null,
      needs: ['public-tls', 'tls-cert'],
      help: 'file with the private key of --public-tls, PEM; read again when it changes',
      reason: 'as --tls-cert',
    },
    'tls-dir': {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      needs: ['public-tls'],
      help: 'directory with the certificates of several hosts, chosen by SNI: each sub-directory has tls.crt and tls.key; all other names get the first one, or --tls-cert; read again when it changes',
      reason: 'gateways with hosts whose certificates differ',
    },
    management: {
      type: 'address',
      default: '127.0.0.1:18081',
      help: 'address of the management API; it requires credentials unless on loopback or a Unix socket',
      reason: 'operators and people who load documents; one per gateway of a machine',
    },
    'management-token-file': {
      type: 'path',
      default: null,
      help: 'file with the bearer token of the management API; read again when it changes',
      reason: 'a management API that is reached over a network by clients without certificates',
    },
    'management-tls-cert': {
      type: 'path',
      default: null,
      needs: ['management-tls-key'],
      help: 'file with the certificate of the management API, PEM; read again when it changes; the listener opens when the file appears',
      reason: 'a management API that is reached over a network',
    },
    'management-tls-key': {
      type: 'path',
      default: null,
      needs: ['management-tls-cert'],
      help: 'file with the private key of the management API, PEM',
      reason: 'as --management-tls-cert',
    },
    'management-client-ca': {
      type: 'path',
      default: null,
      needs: ['management-tls-cert', 'management-tls-key'],
      help: 'file with the CAs whose client certificates the management API accepts, PEM',
      reason: 'operators that authenticate with certificates, as in the chart',
    },
    'management-client-name': {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      needs: ['management-client-ca'],
      help: 'name (DNS name or common name) that a client certificate of the management API must have',
      reason: 'a CA that also issues certificates to others than the operator',
    },
    health: {
      type: 'address',
      default: null,
      help: 'address of the health listener: /ping, /ready and /metrics in plain HTTP, for probes and scrapers',
      reason: 'kubelets and Prometheus, which have no credentials of the management API',
    },
    'base-url': {
      type: 'custom',
      default: null,
      placeholder: 'URL',
      parse: parseOrigin,
      expected: 'an http or https origin such as https://api.example.com, without a path',
      help: 'origin by which browsers reach the gateway; OIDC redirects use it, never the Host header',
      reason:
        'logins with an identity provider behind a balancer, which registers redirect URIs of one origin',
    },
    'trusted-proxies': {
      type: 'list',
      default: [],
      placeholder: 'CIDR,…',
      accept: isCidr,
      expected: 'addresses or CIDRs such as 10.0.0.0/8 or fd00::/8, comma-separated',
      help: 'proxies whose X-Forwarded-*, X-Request-Id and traceparent headers are trusted',
      reason: 'gateways behind a proxy: without it all requests come from one client',
    },
    'public-proxy-protocol': {
      type: 'list',
      default: [],
      placeholder: 'CIDR,…',
      accept: isCidr,
      expected: 'addresses or CIDRs such as 10.0.0.0/8 or fd00::/8, comma-separated',
      help: 'balancers that begin each connection to --public and --public-tls with a PROXY protocol header (version 1 or 2) with the address of the client; connections from them without one are closed',
      reason: 'gateways behind a balancer of TCP, which sends no headers',
    },
    managed: {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      help: 'name of the operator that owns this gateway; the gateway is ready once that operator has completed a sync',
      reason:
        'gateways of an operator: it keeps others from loading documents, and a new Pod from serving before it has them',
    },
    'allow-unmanaged': {
      type: 'boolean',
      default: false,
      needs: ['managed'],
      help: 'documents may also be loaded by other clients of the management API than the operator',
      reason: 'people who try a document beside those of the operator',
    },
    'ready-from-snapshot': {
      type: 'duration',
      default: 0,
      needs: ['managed', 'state-dir'],
      help: 'time without an operator after which the gateway becomes ready from a complete snapshot; 0 is never',
      reason: 'clusters whose gateways restart while no operator runs',
    },
    'state-dir': {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      help: 'directory for a snapshot of what is loaded, which is served again after a restart',
      reason: 'gateways that must serve after a restart without anyone who loads documents again',
    },
    redis: {
      type: 'custom',
      default: null,
      placeholder: 'URL',
      isSecret: true,
      parse: parseRedisUrl,
      expected: 'redis://[user:password@]host[:port][/database], or rediss:// for TLS',
      help: 'Redis in which replicas share revocations, used logins, refresh tokens and rate limits',
      reason: 'more than one replica with logins, tickets that are revoked, or refresh tokens',
    },
    'redis-away': {
      type: 'enum',
      values: ['fail-closed', 'accept'],
      default: 'fail-closed',
      needs: ['redis'],
      help: 'what to do while Redis cannot be reached: reject what depends on it, or accept whatever was not known to be revoked',
      reason: 'those for whom logins matter more than a late revocation',
    },
    'oidc-state-keys-file': {
      type: 'path',
      default: null,
      help: 'file with the keys that logins in progress are encrypted with, JSON, newest first, the same for all replicas; generated if left out',
      reason:
        'replicas without session affinity: a login may return to another one than it has begun at',
    },
    'oidc-state-seconds': {
      type: 'duration',
      default: 600,
      min: 30,
      max: 3600,
      help: 'time for a login, from the redirect to the identity provider until the return',
      reason:
        'identity providers with a long registration, and those who want a stolen state to end sooner',
    },
    'node-name': {
      type: 'custom',
      default: null,
      placeholder: 'NAME',
      parse: parseNodeName,
      expected: 'up to 255 printable ASCII characters without blanks',
      help: 'issued_on of tickets; if left out, the host name',
      reason: 'those who audit tickets: host names of Pods say little',
    },
    processes: {
      type: 'custom',
      default: '1',
      placeholder: 'N|auto',
      parse: parseProcesses,
      expected: 'a whole number from 1 to 256, or auto',
      help: 'number of serving processes; auto is one per core of the cgroup limit',
      reason: 'machines whose cores one process does not use; in Kubernetes take more Pods',
    },
    ...UPSTREAM_SETTINGS,
    ...COMPILE_SETTINGS,
    ...REQUEST_LIMIT_SETTINGS,
    'max-connections': {
      type: 'integer',
      default: null,
      min: 1,
      help: 'most client connections per process, --public and --public-tls together; if left out, one for each 128 KiB of its memory, at most 10000; when more than 80 % are in use, one address (a /64 of IPv6) may have a quarter',
      reason:
        'machines with few file descriptors, or with more memory for connections than is assumed',
    },
    'headers-timeout-seconds': {
      type: 'duration',
      default: 10,
      min: 1,
      max: 3600,
      help: 'most time for the head of a request',
      reason: 'clients on very slow networks; shorter against those who hold connections open',
    },
    'request-timeout-seconds': {
      type: 'duration',
      default: 3600,
      max: 86_400,
      help: 'most time for a whole request with its body, in addition to body_read_seconds; 0 is no bound',
      reason: 'uploads of more than an hour; shorter where there are none',
    },
    'keep-alive-seconds': {
      type: 'duration',
      default: 65,
      min: 1,
      max: 3600,
      help: 'how long an idle connection is kept open; set it above the idle time of a balancer in front',
      reason:
        'balancers that keep connections longer: they would send requests on one that is being closed',
    },
    'drain-delay-seconds': {
      type: 'duration',
      default: 5,
      max: 3600,
      help: 'time after SIGTERM in which /ready answers 503 while new requests are still served',
      reason: 'balancers that take longer, or less long, to notice that a gateway is leaving',
    },
    'drain-seconds': {
      type: 'duration',
      default: 20,
      max: 86_400,
      help: 'time after --drain-delay-seconds for requests in flight to finish',
      reason: 'APIs with requests that take longer than 20 seconds',
    },
    'pid-file': {
      type: 'path',
      default: null,
      help: 'file with the process id, written at start; the command drain reads it',
      reason: '`drain` outside of a container, where the gateway is not process 1',
    },
    'log-level': {
      type: 'enum',
      values: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      help: 'least severe level that is logged on stderr',
      reason: 'people who look for a fault, or pay by the line',
    },
    'access-log': {
      type: 'custom',
      default: 'off',
      placeholder: 'off|on|SHARE',
      parse: parseAccessLogShare,
      expected: 'off, on or a share such as 0.01',
      help: 'one line per request on stdout, or for that share of requests (5xx always)',
      reason: 'those without a proxy in front that writes one',
    },
    ...TRACE_SETTINGS,
  },
} as const satisfies ReasonedTable

export type GatewaySettings = Settings<typeof SETTINGS>

/** Validates each value by the table, then the combinations of settings (behaviour §8). */
export const readGatewaySettings = (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  readConfigFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): ParsedSettings<typeof SETTINGS> => {
  const parsed = parseSettings(SETTINGS, argv, env, readConfigFile)
  const message = parsed.kind === 'settings' ? findConflict(parsed.settings) : undefined
  return message === undefined ? parsed : { kind: 'error', message }
}

/** The address of the API server of the cluster that this runs in: Kubernetes sets it in every container. */
export const apiServerOf = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined => env['KUBERNETES_SERVICE_HOST']

const findConflict = (settings: GatewaySettings): string | undefined => {
  const { publicTls, tlsCert, tlsDir } = settings
  if (publicTls !== null && tlsCert === null && tlsDir === null)
    return '--public-tls: needs --tls-cert and --tls-key, or --tls-dir'
  const { management, managementTokenFile, managementClientName } = settings
  if (!isLocal(management) && managementTokenFile === null && managementClientName === null) {
    return '--management: not on loopback or a Unix socket, so it needs --management-token-file, or --management-tls-cert, --management-tls-key, --management-client-ca and --management-client-name'
  }
  return undefined
}
