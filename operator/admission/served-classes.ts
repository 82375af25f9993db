// Decides whether some release in the cluster serves a class, by a label on the Pods of operators.

import type { Clock } from '../../base/clock.ts'
import { type KubernetesApi, TYPES } from '../kubernetes/client/api.ts'
import { GROUP } from '../resource/resource.ts'
import { withTimeout } from '../../base/timeout.ts'

/**
 * On the Pods of an operator: its `--class`. The chart sets it.
 * @internal exported for tests
 */
export const CLASS_LABEL = `${GROUP}/class`

/**
 * Undefined: it is not known, for example because the operator may not read the Pods of all namespaces. Never rejects.
 */
export type IsClassServed = (className: string) => Promise<boolean | undefined>

export interface ServedClassesOptions {
  readonly api: Pick<KubernetesApi, 'list'>
  readonly clock: Clock
}

const WAIT_MS = 700
const MAX_UNDER_WAY = 8

export const createServedClasses = ({ api, clock }: ServedClassesOptions): IsClassServed => {
  let underWay = 0
  return async (className) => {
    // Values of labels have this form: no Pod has any other.
    if (!LABEL_VALUE.test(className)) return false
    if (underWay >= MAX_UNDER_WAY) return undefined
    underWay += 1
    try {
      // Any version will do: the API server answers from its own cache, however many Pods there are.
      const labelSelector = `${CLASS_LABEL}=${className}`
      const options = { labelSelector, resourceVersion: '0', onlyMetadata: true }
      const listed = api.list(TYPES.pods, options)
      const pods = await withTimeout(listed, { ms: WAIT_MS, clock, onTimeout: () => undefined })
      return pods && pods.items.length > 0
    } catch {
      return undefined
    } finally {
      underWay -= 1
    }
  }
}

const LABEL_VALUE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
