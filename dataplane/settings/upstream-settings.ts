// Declares the settings of where requests may be forwarded to. It holds data only.

import { CLUSTER_DOMAIN_SETTING } from '../../language/service-name.ts'
import type { ReasonedSettings } from '../../telemetry/settings-table.ts'
import { isCidr, isDestination, isPort } from './values.ts'

export const UPSTREAM_SETTINGS = {
  'upstream-allow': {
    type: 'list',
    default: [],
    placeholder: 'RULE,…',
    accept: isDestination,
    expected: 'CIDRs, host names or *.suffix patterns, comma-separated',
    help: 'the only destinations that forward may reach; if left out, all that are not denied',
    reason: 'authors of documents who are not trusted with the whole network',
  },
  'upstream-deny': {
    type: 'list',
    default: [],
    placeholder: 'RULE,…',
    accept: isDestination,
    expected: 'CIDRs, host names or *.suffix patterns, comma-separated',
    help: "destinations that forward may never reach, checked after name resolution; always denied are the gateway's own listeners, and link-local and metadata addresses unless --upstream-allow names them",
    reason: 'networks with addresses that no document may reach',
  },
  'upstream-local-ports': {
    type: 'list',
    default: [],
    placeholder: 'PORT,…',
    accept: isPort,
    expected: 'ports from 1 to 65535, comma-separated',
    help: "the only ports that forward may reach on this machine (loopback included), such as that of an application beside the gateway; if left out, all but the gateway's own listeners",
    reason: 'sidecars: documents reach the application alone, not other processes of its Pod',
  },
  'gateway-ports': {
    type: 'list',
    default: [],
    placeholder: 'PORT,…|none',
    accept: isPortOrNone,
    expected: 'ports from 1 to 65535, comma-separated, or none',
    help: 'management ports of gateways, which forward may never reach at addresses of the cluster, for gateways that listen on others than this one; if left out, in a Pod, that of --management',
    reason:
      'clusters whose gateways manage on other ports: a document must not reach what manages them',
  },
  'cluster-networks': {
    type: 'list',
    default: [],
    placeholder: 'CIDR,…',
    accept: isCidr,
    expected: 'addresses or CIDRs such as 10.0.0.0/8 or fd00::/8, comma-separated',
    help: 'addresses of Pods, Services and nodes, of which documents that are confined to their namespace reach only its Services; if left out, private addresses, or all addresses where this machine has a public one',
    reason:
      'clusters with public addresses for Pods, where confined tenants would reach those of others',
  },
  'cluster-domain': CLUSTER_DOMAIN_SETTING,
  'upstream-connection-age': {
    type: 'duration',
    default: 60,
    max: 86_400,
    help: 'age after which a connection to an upstream gets no new request, or up to a quarter earlier: shorter where few connections lead to many instances behind one address, longer where TLS handshakes are expensive; 0 is no bound',
    reason: 'upstreams that scale behind one address: new instances get nothing on old connections',
  },
  'upstream-ca': {
    type: 'path',
    default: null,
    help: 'file with further CAs for https upstreams, PEM',
    reason: 'upstreams with certificates of a company',
  },
} as const satisfies ReasonedSettings

function isPortOrNone(text: string): boolean {
  return text === 'none' || isPort(text)
}
