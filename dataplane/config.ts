// The command line, environment and configuration file in; the data plane's typed settings out. The only
// file of the data plane that reads the environment.

import { readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { COMPILE_SETTINGS } from '../compiler/limits.ts'
import { parseAccessLogShare } from '../telemetry/access-log.ts'
import { parseSettings, type ParsedSettings } from '../telemetry/settings.ts'
import type { Address, Settings, SettingsTable } from '../telemetry/settings-table.ts'
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
    drain: {
      help: 'tell the running gateway (--pid-file, else process 1 of the container) to drain; returns after --drain-delay-seconds',
    },
    'hash-password': {
      help: 'read a password from stdin, print the password_hash of a realm user',
    },
  },
  settings: {
    public: {
      type: 'address',
      default: '0.0.0.0:18080',
      help: 'where clients connect in plain HTTP',
    },
    'public-tls': {
      type: 'address',
      default: null,
      help: 'second listener for clients, in TLS; needs --tls-cert and --tls-key, or --tls-dir',
    },
    'tls-cert': {
      type: 'path',
      default: null,
      needs: ['public-tls', 'tls-key'],
      help: 'certificate chain of --public-tls, PEM; re-read on change',
    },
    'tls-key': {
      type: 'path',
      default: null,
      needs: ['public-tls', 'tls-cert'],
      help: 'private key of --public-tls, PEM; re-read on change',
    },
    'tls-dir': {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      needs: ['public-tls'],
      help: 'certificates of several hosts, chosen by SNI: each sub-directory has tls.crt and tls.key; the first one, or --tls-cert, for all other names; re-read on change',
    },
    management: {
      type: 'address',
      default: '127.0.0.1:18081',
      help: 'management API; asks for credentials unless on loopback or a Unix socket',
    },
    'management-token-file': {
      type: 'path',
      default: null,
      help: 'file with the bearer token of the management API; re-read on change',
    },
    'management-tls-cert': {
      type: 'path',
      default: null,
      needs: ['management-tls-key'],
      help: 'certificate of the management API, PEM; re-read on change, it opens when the file appears',
    },
    'management-tls-key': {
      type: 'path',
      default: null,
      needs: ['management-tls-cert'],
      help: 'private key of the management API, PEM',
    },
    'management-client-ca': {
      type: 'path',
      default: null,
      needs: ['management-tls-cert', 'management-tls-key'],
      help: 'CAs whose client certificates the management API accepts, PEM',
    },
    'management-client-name': {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      needs: ['management-client-ca'],
      help: 'the only name (DNS name or common name) a client certificate may have',
    },
    health: {
      type: 'address',
      default: null,
      help: 'plain /ping, /ready and /metrics for probes and scrapers',
    },
    'base-url': {
      type: 'custom',
      default: null,
      placeholder: 'URL',
      parse: parseOrigin,
      expected: 'an http or https origin such as https://api.example.com, without a path',
      help: 'where browsers reach the gateway: the own origin of OIDC redirects; Host is never used for it',
    },
    'trusted-proxies': {
      type: 'list',
      default: [],
      placeholder: 'CIDR,…',
      accept: isCidr,
      expected: 'addresses or CIDRs such as 10.0.0.0/8 or fd00::/8, comma-separated',
      help: 'whose X-Forwarded-*, X-Request-Id and traceparent are believed',
    },
    'public-proxy-protocol': {
      type: 'list',
      default: [],
      placeholder: 'CIDR,…',
      accept: isCidr,
      expected: 'addresses or CIDRs such as 10.0.0.0/8 or fd00::/8, comma-separated',
      help: 'balancers whose connections to --public and --public-tls begin with a PROXY protocol header, version 1 or 2, which tells the address of the client; without one they are closed',
    },
    managed: {
      type: 'string',
      default: null,
      placeholder: 'NAME',
      help: 'owned by the operator of that name: ready only once it has completed a sync',
    },
    'allow-unmanaged': {
      type: 'boolean',
      default: false,
      needs: ['managed'],
      help: 'documents may be loaded by hand beside the operator',
    },
    'ready-from-snapshot': {
      type: 'duration',
      default: 0,
      needs: ['managed', 'state-dir'],
      help: 'ready from a complete snapshot after that time without an operator; 0 is never',
    },
    'state-dir': {
      type: 'path',
      default: null,
      placeholder: 'DIR',
      help: 'snapshot of what is loaded, served again after a restart',
    },
    redis: {
      type: 'custom',
      default: null,
      placeholder: 'URL',
      isSecret: true,
      parse: parseRedisUrl,
      expected: 'redis://[user:password@]host[:port][/database], or rediss:// for TLS',
      help: 'where replicas share revocations, used logins and refresh tokens',
    },
    'redis-away': {
      type: 'enum',
      values: ['fail-closed', 'accept'],
      default: 'fail-closed',
      needs: ['redis'],
      help: 'while Redis cannot be reached: refuse what rests on it, or accept what was not known to be revoked',
    },
    'oidc-state-keys-file': {
      type: 'path',
      default: null,
      help: 'keys that logins in progress are sealed with, JSON, newest first, the same for all replicas; generated if left out',
    },
    'oidc-state-seconds': {
      type: 'duration',
      default: 600,
      min: 30,
      max: 3600,
      help: 'time for a login, from the redirect to the identity provider until the return',
    },
    'node-name': {
      type: 'custom',
      default: null,
      placeholder: 'NAME',
      parse: parseNodeName,
      expected: 'up to 255 printable ASCII characters without blanks',
      help: 'issued_on of tickets; the host name if left out',
    },
    processes: {
      type: 'custom',
      default: '1',
      placeholder: 'N|auto',
      parse: parseProcesses,
      expected: 'a whole number from 1 to 256, or auto',
      help: 'serving processes; auto is one per core of the cgroup limit',
    },
    ...UPSTREAM_SETTINGS,
    ...COMPILE_SETTINGS,
    ...REQUEST_LIMIT_SETTINGS,
    'max-connections': {
      type: 'integer',
      default: null,
      min: 1,
      help: 'client connections per process, of --public and --public-tls together; if left out, one for each 128 KiB of its memory, at most 10000; when more than 80 % are in use, an address (a /64 of IPv6) may have a quarter',
    },
    'headers-timeout-seconds': {
      type: 'duration',
      default: 10,
      min: 1,
      max: 3600,
      help: 'time for the head of a request',
    },
    'request-timeout-seconds': {
      type: 'duration',
      default: 3600,
      max: 86_400,
      help: 'time for a whole request with its body, beside body_read_seconds; 0 is no bound',
    },
    'keep-alive-seconds': {
      type: 'duration',
      default: 65,
      min: 1,
      max: 3600,
      help: 'how long an idle connection is kept; above the idle time of the balancer in front',
    },
    'drain-delay-seconds': {
      type: 'duration',
      default: 5,
      max: 3600,
      help: 'from SIGTERM, /ready says 503 while new requests are still served',
    },
    'drain-seconds': {
      type: 'duration',
      default: 20,
      max: 86_400,
      help: 'then, time for the requests in flight to finish',
    },
    'pid-file': {
      type: 'path',
      default: null,
      help: 'written at start; tells `drain` which process to speak to',
    },
    'log-level': {
      type: 'enum',
      values: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      help: 'least level of the log on stderr',
    },
    'access-log': {
      type: 'custom',
      default: 'off',
      placeholder: 'off|on|SHARE',
      parse: parseAccessLogShare,
      expected: 'off, on or a share such as 0.01',
      help: 'a line per request on stdout, or for that share of them (5xx always)',
    },
    ...TRACE_SETTINGS,
  },
} as const satisfies SettingsTable

export type GatewaySettings = Settings<typeof SETTINGS>

/** What the table alone says of a value, then what several settings say together (behaviour §8). */
export const readGatewaySettings = (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  readConfigFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): ParsedSettings<typeof SETTINGS> => {
  const parsed = parseSettings(SETTINGS, argv, env, readConfigFile)
  const message = parsed.kind === 'settings' ? findConflict(parsed.settings) : undefined
  return message === undefined ? parsed : { kind: 'fault', message }
}

/** Where the API server of the cluster is that this runs in, as Kubernetes tells every container. */
export const apiServerOf = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined => env['KUBERNETES_SERVICE_HOST']

/** Loopback address or Unix socket: only this machine can speak to it. */
export const isLocal = (address: Address): boolean =>
  address.kind === 'unix' ||
  address.host === 'localhost' ||
  address.host === '::1' ||
  (isIPv4(address.host) && address.host.startsWith('127.'))

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
