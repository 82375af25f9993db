// Recognises names of Services in a Kubernetes cluster among host names, as the search domains of a Pod complete them,
// and gives their full names. Pure; it looks nothing up.

export type HostNaming =
  | {
      readonly kind: 'service'
      readonly namespace: string
      /** Absolute, with a dot at the end, so that no search domain completes it. */
      readonly fullName: string
      /** False: two labels or more without `svc`, which may be a domain elsewhere just as well. */
      readonly isCertain: boolean
    }
  /** One label: it is completed with the namespace of the Pod that looks it up. */
  | { readonly kind: 'bare' }
  /** In the cluster's domain and not a Service: `10-0-0-1.shop.pod.cluster.local` stands for any address. */
  | { readonly kind: 'cluster' }
  | { readonly kind: 'other' }

/**
 * @param host no address; `orders.shop`, `orders.shop.svc` and `orders.shop.svc.<clusterDomain>` are one, and what
 * stands before them is the name of a Pod
 * @param clusterDomain `cluster.local`
 * @example readHostName('orders.shop', 'cluster.local')
 * // {kind: 'service', namespace: 'shop', fullName: 'orders.shop.svc.cluster.local.', isCertain: false}
 */
export const readHostName = (host: string, clusterDomain: string): HostNaming => {
  const lower = host.toLowerCase()
  const isAbsolute = lower.endsWith('.')
  const name = isAbsolute ? lower.slice(0, -1) : lower
  const domain = clusterDomain.toLowerCase()
  if (name === domain) return CLUSTER
  if (name.endsWith(`.${domain}`)) {
    return inDomain(name.slice(0, -domain.length - 1).split('.'), domain)
  }
  if (isAbsolute) return OTHER
  const labels = name.split('.')
  if (labels.length === 1) return BARE
  const last = labels.at(-1)
  if (labels.length > 2 && (last === 'svc' || last === 'pod')) return inDomain(labels, domain)
  return service(labels, domain, false)
}

/**
 * The Service that a host names, as `namespace/name`; undefined for any other host, that of one Pod of a Service
 * included.
 *
 * @example
 * readServiceKey('orders.shop.svc', 'cluster.local') // 'shop/orders'
 * readServiceKey('orders', 'cluster.local') // undefined: its namespace is that of the Pod that looks it up
 */
export const readServiceKey = (host: string, clusterDomain: string): string | undefined => {
  const naming = readHostName(host, clusterDomain)
  if (naming.kind !== 'service') return undefined
  const [name, namespace, ...rest] = naming.fullName
    .slice(0, -`.svc.${clusterDomain}.`.length)
    .split('.')
  return rest.length === 0 && isLabel(name) && isLabel(namespace)
    ? `${namespace}/${name}`
    : undefined
}

/**
 * The same for hosts that can be nothing else: `orders.shop` may be a domain elsewhere.
 *
 * @example readCertainServiceKey('orders.shop.svc', 'cluster.local') // 'shop/orders'
 */
export const readCertainServiceKey = (host: string, clusterDomain: string): string | undefined => {
  const naming = readHostName(host, clusterDomain)
  return naming.kind === 'service' && naming.isCertain
    ? readServiceKey(host, clusterDomain)
    : undefined
}

/** RFC 1123; names of Services and Namespaces. */
const isLabel = (text: string | undefined): text is string => text !== undefined && LABEL.test(text)

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** A result of `readServiceKey`. */
export const isServiceKey = (text: string): boolean => {
  const [namespace, name, ...rest] = text.split('/')
  return rest.length === 0 && isLabel(namespace) && isLabel(name)
}

/** @example isClusterDomain('cluster.local') // true */
const isClusterDomain = (text: string): boolean =>
  text.length <= 200 &&
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text)

/** `--cluster-domain`, the same for operator and gateways. */
export const CLUSTER_DOMAIN_SETTING = {
  type: 'custom',
  default: 'cluster.local',
  placeholder: 'NAME',
  parse: (text: string): string | undefined => (isClusterDomain(text) ? text : undefined),
  expected: 'a domain such as cluster.local',
  help: 'the domain that names of Services end with',
  reason: 'clusters that were set up with another domain',
} as const

const CLUSTER: HostNaming = { kind: 'cluster' }
const OTHER: HostNaming = { kind: 'other' }
const BARE: HostNaming = { kind: 'bare' }

const inDomain = (labels: readonly string[], domain: string): HostNaming =>
  labels.length > 2 && labels.at(-1) === 'svc'
    ? service(labels.slice(0, -1), domain, true)
    : CLUSTER

const service = (labels: readonly string[], domain: string, isCertain: boolean): HostNaming => ({
  kind: 'service',
  namespace: labels.at(-1) ?? '',
  fullName: `${labels.join('.')}.svc.${domain}.`,
  isCertain,
})
