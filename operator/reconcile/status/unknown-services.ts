// Warns of hosts of forwards that name Services which do not exist. Pure.

import type { Warning } from '../../../language/problem.ts'
import { readCertainServiceKey } from '../../../language/service-name.ts'

/**
 * The hosts that name one of these Services for certain: a domain is not taken for a Service.
 * @param absent `namespace/name`
 */
export const hostsWithoutService = (
  hosts: readonly string[],
  absent: ReadonlySet<string>,
  clusterDomain: string,
): readonly string[] =>
  absent.size === 0
    ? []
    : hosts.filter((host) => absent.has(readCertainServiceKey(host, clusterDomain) ?? ''))

/** @example unknownServiceWarning('orders.shop.svc') */
export const unknownServiceWarning = (host: string): Warning => ({
  code: 'UnknownService',
  path: '/spec/document',
  message: `there is no Service that the host ${host} of a forward names: its requests get 504 until there is one; are name and namespace right?`,
})
