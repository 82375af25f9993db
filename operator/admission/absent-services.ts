// Asks the API server which of the Services that hosts of a document name do not exist. Bounded in number and in time; what
// may not be read, or is not answered in time, counts as there.

import type { Clock } from '../../base/clock.ts'
import { withTimeout } from '../../base/timeout.ts'
import { readCertainServiceKey } from '../../language/service-name.ts'
import { isApiError, type KubernetesApi, TYPES } from '../kubernetes/client/api.ts'
import { hostsWithoutService } from '../reconcile/status/unknown-services.ts'

/** @returns those of the hosts that name a Service which does not exist. Never rejects. */
export type FindUnserved = (hosts: readonly string[]) => Promise<readonly string[]>

export interface FindUnservedOptions {
  readonly api: Pick<KubernetesApi, 'get'>
  readonly clock: Clock
  readonly clusterDomain: string
}

/** The API server waits for the result meanwhile. */
const WAIT_MS = 700
/** For one document, and for all at a time. */
const MAX_SERVICES = 8
const MAX_UNDER_WAY = 32

export const createFindUnserved = ({
  api,
  clock,
  clusterDomain,
}: FindUnservedOptions): FindUnserved => {
  let underWay = 0
  const isAbsent = async (key: string): Promise<boolean> => {
    const [namespace = '', name = ''] = key.split('/')
    underWay += 1
    // A request ends by itself, later than it is waited for.
    const request = api.get(TYPES.services, { namespace, name }).finally(() => {
      underWay -= 1
    })
    try {
      await withTimeout(request, { ms: WAIT_MS, clock, onTimeout: () => undefined })
      return false
    } catch (error) {
      return isApiError(error, 'not_found')
    }
  }
  return async (hosts) => {
    const named = hosts.flatMap((host) => readCertainServiceKey(host, clusterDomain) ?? [])
    const keys = [...new Set(named)].slice(0, MAX_SERVICES)
    if (underWay + keys.length > MAX_UNDER_WAY) return []
    const answers = await Promise.all(keys.map(isAbsent))
    const absent = new Set(keys.filter((_, at) => answers[at] === true))
    return hostsWithoutService(hosts, absent, clusterDomain)
  }
}
