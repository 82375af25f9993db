// Connects a command of the operator to the cluster of its settings, for a bounded time.

import { SYSTEM_CLOCK } from '../../base/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { readVersion } from '../../telemetry/version.ts'
import type { OperatorSettings } from '../config.ts'
import type { KubernetesApi } from '../kubernetes/client/api.ts'
import { createKubernetesApi } from '../kubernetes/client/client.ts'
import { type ClusterOptions, loadCluster } from '../kubernetes/config/kubeconfig.ts'

export interface CommandRun {
  readonly settings: OperatorSettings
  readonly env: ClusterOptions['env']
  readonly log: Log
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

/** Everything after it fails at once, and is listed as left. */
const DEADLINE_MS = 90_000

/** @param work gets the namespace of the operator beside the API */
export const withCluster = async <T>(
  { settings, env, log, complain }: CommandRun,
  work: (api: KubernetesApi, namespace: string) => Promise<T>,
): Promise<T> => {
  const clock = SYSTEM_CLOCK
  const { kubeconfig } = settings
  const cluster = await loadCluster({ env, clock, ...(kubeconfig !== null && { kubeconfig }) })
  const userAgent = `svc-operator/${readVersion()}`
  const api = createKubernetesApi({ cluster, clock, log, userAgent })
  const cancel = clock.after(DEADLINE_MS, () => {
    complain(`${DEADLINE_MS / 1000} s are over: what was not done by then is left\n`)
    void api.close()
  })
  try {
    return await work(api, settings.namespace ?? cluster.namespace)
  } finally {
    cancel()
    await api.close()
  }
}
