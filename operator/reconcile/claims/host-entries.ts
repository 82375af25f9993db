// Decides whether a list of allowed hosts covers a host pattern: `allowedHosts` of a Realm and the annotation
// `gateway.svc.dev/hosts` have this one grammar. Pure.

import { hostKey, type HostPattern, parseHost } from '../../../language/routes/host-pattern.ts'

/**
 * `a.example.com` is that host itself, `*.example.com` anything below it, `*` (or `_`) any host. Anything else is a
 * pattern as a document writes it (`mydomain.:_`), and covers just that pattern.
 * @param entries never changed from now on: they are read once, whatever number of documents they are compared with
 * @example coversHosts(['*.example.com'], hosts) // true for x.y.example.com and :_.example.com
 */
export const coversHosts = (entries: readonly string[], hosts: readonly HostPattern[]): boolean => {
  const covered = readEntries(entries)
  return hosts.every((host) => covers(covered, host))
}

/**
 * How closely the entries name all of the hosts, which they cover: 0 where `*` alone covers one of them, the more labels
 * of a domain the more, and a host by itself most.
 * @example closenessOf(['*', '*.example.com'], hosts) // 2 for x.example.com
 */
export const closenessOf = (entries: readonly string[], hosts: readonly HostPattern[]): number => {
  const { below, keys } = readEntries(entries)
  const closeness = (host: HostPattern): number => {
    if (keys.has(hostKey(host))) return hostKey(host) === ANY_HOST ? 0 : Infinity
    const domains = domainsAbove(host).filter((domain) => below.has(domain))
    return Math.max(0, ...domains.map((domain) => domain.split('.').length))
  }
  return Math.min(...hosts.map(closeness))
}

const ANY_HOST = '_'

/** The first of them, for a message: a list may be as long as its resource. */
export const listEntries = (entries: readonly string[]): string => {
  const shown = entries
    .slice(0, MAX_SHOWN)
    .map((entry) =>
      entry.length > MAX_SHOWN_LENGTH ? `${entry.slice(0, MAX_SHOWN_LENGTH)}…` : entry,
    )
  const more = entries.length - shown.length
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

const MAX_SHOWN = 10
const MAX_SHOWN_LENGTH = 255

/** More than one host may fit it. */
export const isWildcard = ({ labels, tail }: HostPattern): boolean => tail || labels.includes(null)

interface ReadEntries {
  readonly isAny: boolean
  /** What follows `*.`, in lower case. */
  readonly below: ReadonlySet<string>
  /** Keys of patterns. */
  readonly keys: ReadonlySet<string>
}

/** Reading 60,000 takes 100 ms, too long for each of a namespace's documents. */
const known = new WeakMap<readonly string[], ReadEntries>()

const readEntries = (entries: readonly string[]): ReadEntries => {
  const before = known.get(entries)
  if (before !== undefined) return before
  const isBelow = (entry: string): boolean => entry.startsWith('*.')
  const read = {
    isAny: entries.includes('*') || entries.includes('_'),
    below: new Set(entries.filter(isBelow).map((entry) => entry.slice(2).toLowerCase())),
    keys: new Set(entries.filter((entry) => !isBelow(entry)).flatMap(keysOf)),
  }
  known.set(entries, read)
  return read
}

const keysOf = (entry: string): readonly string[] => {
  const parsed = parseHost(entry)
  return parsed.ok ? parsed.hosts.map(hostKey) : []
}

const covers = ({ isAny, below, keys }: ReadEntries, host: HostPattern): boolean =>
  isAny || keys.has(hostKey(host)) || domainsAbove(host).some((domain) => below.has(domain))

/** Domains that every host of the pattern is below. */
const domainsAbove = ({ labels, tail }: HostPattern): readonly string[] => {
  const domains: string[] = []
  let domain = ''
  // A host is not below itself; `[...]example.com` counts as below example.com.
  for (const label of labels.slice(tail ? 0 : 1).reverse()) {
    if (label === null) break
    domain = domain === '' ? label : `${label}.${domain}`
    domains.push(domain)
  }
  return domains
}
