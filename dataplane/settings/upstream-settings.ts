// The settings of where requests may be forwarded to. Data only.

import { CLUSTER_DOMAIN_SETTING } from '../../language/service-name.ts'
import type { SettingsTable } from '../../telemetry/settings-table.ts'
import { isCidr, isDestination, isPort } from './values.ts'

export const UPSTREAM_SETTINGS = {
  'upstream-allow': {
    type: 'list',
    default: [],
    placeholder: 'RULE,…',
    accept: isDestination,
    expected: 'CIDRs, host names or *.suffix patterns, comma-separated',
    help: 'all that forward may reach; left out, everything that is not denied',
  },
  'upstream-deny': {
    type: 'list',
    default: [],
    placeholder: 'RULE,…',
    accept: isDestination,
    expected: 'CIDRs, host names or *.suffix patterns, comma-separated',
    help: 'what forward may never reach, checked after name resolution; link-local and metadata addresses unless --upstream-allow names them, and our own listeners, always are',
  },
  'upstream-local-ports': {
    type: 'list',
    default: [],
    placeholder: 'PORT,…',
    accept: isPort,
    expected: 'ports from 1 to 65535, comma-separated',
    help: "of this machine's own addresses, loopback too, all that forward may reach: the application beside the gateway; left out, any but our own listeners",
  },
  'gateway-ports': {
    type: 'list',
    default: [],
    placeholder: 'PORT,…|none',
    accept: isPortOrNone,
    expected: 'ports from 1 to 65535, comma-separated, or none',
    help: 'management ports of gateways: never reached at addresses of the cluster; left out, in a Pod, that of --management',
  },
  'cluster-networks': {
    type: 'list',
    default: [],
    placeholder: 'CIDR,…',
    accept: isCidr,
    expected: 'addresses or CIDRs such as 10.0.0.0/8 or fd00::/8, comma-separated',
    help: 'of Pods, Services and nodes; left out, private addresses, and all where this machine has a public one',
  },
  'cluster-domain': CLUSTER_DOMAIN_SETTING,
  'upstream-connection-age': {
    type: 'duration',
    default: 60,
    max: 86_400,
    help: 'a connection to an upstream takes no new request after that many seconds, or up to a quarter earlier; 0: no matter how old it is',
  },
  'upstream-ca': {
    type: 'path',
    default: null,
    help: 'more CAs for https upstreams, PEM',
  },
} as const satisfies SettingsTable['settings']

function isPortOrNone(text: string): boolean {
  return text === 'none' || isPort(text)
}
