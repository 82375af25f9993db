// Decides whether a list of allowed hosts covers a host pattern: `allowedHosts` of a Realm and the annotation
// `gateway.svc.dev/hosts` have this one grammar. Pure.

import { hostKey, type HostPattern, parseHost } from '../../../language/routes/host-pattern.ts'

/**
 * `a.example.com` is that host itself, `*.example.com` anything below it, `*` (or `_`) any host. Anything else is a
 * pattern as a document writes it (`mydomain.:_`), and covers just that pattern.
 * @internal exported for tests
 * @example coversHost('*.example.com', host) // true for x.y.example.com and :_.example.com
 */
export const coversHost = (entry: string, host: HostPattern): boolean => {
  if (entry === '*' || entry === '_') return true
  if (entry.startsWith('*.')) return isBelow(host, entry.slice(2).toLowerCase().split('.'))
  const parsed = parseHost(entry)
  return parsed.ok && parsed.hosts.some((each) => hostKey(each) === hostKey(host))
}

export const coversHosts = (entries: readonly string[], hosts: readonly HostPattern[]): boolean =>
  hosts.every((host) => entries.some((entry) => coversHost(entry, host)))

/** More than one host may fit it. */
export const isWildcard = ({ labels, tail }: HostPattern): boolean => tail || labels.includes(null)

const isBelow = (host: HostPattern, labels: readonly string[]): boolean => {
  const offset = host.labels.length - labels.length
  const hasRoom = host.tail ? offset >= 0 : offset > 0
  return hasRoom && labels.every((label, i) => host.labels[offset + i] === label)
}
