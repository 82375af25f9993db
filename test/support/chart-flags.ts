// Writes what the chart knows of the programs' settings, from their tables: it refuses what they would refuse, before a
// Pod is replaced by one that ends at once. It may let pass what they refuse, and never refuses what they take.

import { SETTINGS as GATEWAY } from '../../dataplane/config.ts'
import { isCidr, isDestination, isPort } from '../../dataplane/settings/values.ts'
import { SETTINGS as OPERATOR } from '../../operator/config.ts'
import { CLOSED_FLAGS } from '../../operator/admission/inject-flags.ts'
import type { Setting, SettingsTable } from '../../telemetry/settings-table.ts'
import { describeExpected } from '../../telemetry/settings-value.ts'

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`
const GROUP = '[0-9a-fA-F]{1,4}'
const IPV6 = `(?:${[
  `(?:${GROUP}:){7}(?:${GROUP}|:)`,
  `(?:${GROUP}:){6}(?:${IPV4}|:${GROUP}|:)`,
  ...[5, 4, 3, 2, 1].map(
    (count) =>
      `(?:${GROUP}:){${count}}(?:(?::${GROUP}){0,${5 - count}}:${IPV4}|(?::${GROUP}){1,${7 - count}}|:)`,
  ),
  `:(?:(?::${GROUP}){0,5}:${IPV4}|(?::${GROUP}){1,7}|:)`,
].join('|')})(?:%[0-9a-zA-Z.:-]+)?`
const PREFIX4 = '/0{0,2}(?:3[0-2]|[12]?[0-9])'
const PREFIX6 = '/0{0,2}(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])'
const PORT = '[1-9][0-9]{0,4}'
const NAME = '(?:\\*|(?:\\*\\.)?(?:[a-zA-Z0-9_-]+\\.)*[a-zA-Z0-9_-]*[a-zA-Z][a-zA-Z0-9_-]*\\.?)'
const ADDRESS = '(?:unix:/.*|(?:\\[[0-9a-fA-F:.]{2,45}\\]|[^\\s:/\\[\\]@]{0,253}):[0-9]{1,5})'

/** How a value, or an element of a list, is written: expressions that Go and JavaScript read alike. */
export const FORMS = {
  address: `^${ADDRESS}$`,
  // Without (?i:…), which V8 has been seen to forget in a long run of tests.
  boolean:
    '^([Tt][Rr][Uu][Ee]|1|[Oo][Nn]|[Yy][Ee][Ss]|[Ff][Aa][Ll][Ss][Ee]|0|[Oo][Ff][Ff]|[Nn][Oo])$',
  integer: '^-?[0-9]{1,16}$',
  number: '^-?[0-9]{1,16}(?:\\.[0-9]{1,16})?$',
  duration: '^[0-9]{1,12}(?:\\.[0-9]{1,6})?(?:ms|s|m|h)?$',
  text: '^(?s:.+)$',
  cidr: `^(?:${IPV4}(?:${PREFIX4})?|${IPV6}(?:${PREFIX6})?)$`,
  /** As Kubernetes has them: a single address has its prefix too. */
  network: `^(?:${IPV4}${PREFIX4}|${IPV6}${PREFIX6})$`,
  destination: `^\\s*(?:${IPV4}(?:${PREFIX4})?|${IPV6}(?:${PREFIX6})?|${NAME})\\s*$`,
  port: `^${PORT}$`,
} as const

type Form = keyof typeof FORMS

/** Elements of lists that the programs validate by a function. */
const FORM_OF_FUNCTION: ReadonlyMap<unknown, Form> = new Map([
  [isCidr, 'cidr'],
  [isDestination, 'destination'],
  [isPort, 'port'],
] satisfies [unknown, Form][])

/** Where the chart has a value for what a flag says. */
export const CHART_VALUES = {
  gateway: {
    'base-url': 'gateway.baseUrl',
    'trusted-proxies': 'gateway.trustedProxies',
    'public-proxy-protocol': 'gateway.publicProxyProtocol',
    'upstream-allow': 'gateway.upstreamAllow',
    'upstream-deny': 'gateway.upstreamDeny',
    'upstream-ca': 'gateway.extraCa',
    'cluster-networks': 'cluster.networks',
    'cluster-domain': 'cluster.domain',
    processes: 'gateway.processes',
    'access-log': 'gateway.accessLog',
    'log-level': 'gateway.logLevel',
    'drain-seconds': 'gateway.drainSeconds',
    'ready-from-snapshot': 'gateway.readyFromSnapshotSeconds',
    'redis-away': 'redis.away',
    'oidc-state-keys-file': 'gateway.oidcStateKeys',
    'tls-dir': 'gateway.tls.secrets',
    managed: 'manager',
    'management-client-name': 'manager',
    otlp: 'tracing.endpoint',
    'otlp-headers-file': 'tracing.headers',
    'trace-share': 'tracing.share',
    'max-routes': 'documents.maxRoutes',
    'compile-seconds': 'documents.compileSeconds',
  },
  operator: {
    namespaces: 'watch.namespaces',
    'data-plane-namespaces': 'dataPlaneNamespaces',
    lease: 'operator.lease',
    class: 'class',
    manager: 'manager',
    'host-ownership': 'hostOwnership',
    'wildcard-namespaces': 'wildcardNamespaces',
    destinations: 'destinations',
    'service-endpoints': 'serviceEndpoints',
    'cluster-domain': 'cluster.domain',
    webhook: 'webhook.enabled',
    sidecar: 'sidecar.enabled',
    'log-level': 'operator.logLevel',
    'max-routes': 'documents.maxRoutes',
    'compile-seconds': 'documents.compileSeconds',
  },
} as const

/** Values that sidecars are made by, too. */
const SHARED = /^(?:cluster|documents|tracing)\./

/** Flags that may not be given to Pods of the chart: why. */
const CLOSED = {
  gateway: { 'drain-delay-seconds': 'set gateway.drainDelaySeconds: the preStop reads it too' },
  operator: {
    manifests: 'the operator takes its resources from the cluster',
    once: 'the operator takes its resources from the cluster',
  },
} as const

export const chartFlags = (): unknown => ({
  forms: FORMS,
  gateway: { ...programOf(GATEWAY), values: CHART_VALUES.gateway, closed: CLOSED.gateway },
  operator: { ...programOf(OPERATOR), values: CHART_VALUES.operator, closed: CLOSED.operator },
  sidecar: {
    ...named(GATEWAY),
    values: Object.fromEntries(
      Object.entries(CHART_VALUES.gateway).filter(([, path]) => SHARED.test(path)),
    ),
    closed: Object.fromEntries(CLOSED_FLAGS),
  },
})

const named = ({ program, envPrefix }: SettingsTable) => ({ program, envPrefix })

const programOf = (table: SettingsTable) => ({
  ...named(table),
  flags: {
    config: { form: 'text', expected: 'a path' },
    ...Object.fromEntries(
      Object.entries(table.settings).map(([name, setting]) => [name, flagOf(setting)]),
    ),
  },
})

const flagOf = (setting: Setting): object => {
  const { needs, isSecret = false } = setting
  return {
    ...valueOf(setting),
    expected: describeExpected(setting),
    ...(setting.default === null && { canBeOff: true }),
    ...(isSecret && { isSecret }),
    ...(needs !== undefined && { needs }),
  }
}

const rangeOf = ({
  type,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
}: Extract<Setting, { readonly type: 'integer' | 'number' | 'duration' }>): object => ({
  form: type,
  min,
  max,
})

const valueOf = (setting: Setting): object => {
  switch (setting.type) {
    case 'boolean':
      return { form: 'boolean', isSwitch: true }
    case 'integer':
    case 'number':
    case 'duration':
      return rangeOf(setting)
    case 'enum':
      return { values: setting.values }
    case 'list':
      return { form: FORM_OF_FUNCTION.get(setting.accept) ?? 'text', isList: true }
    case 'address':
      return { form: 'address' }
    case 'custom':
    case 'path':
    case 'string':
      return { form: 'text' }
  }
}
