// Runs `svc-operator release`: writes what it has released to stdout, and returns the exit code. It is for resources in
// namespaces that an operator no longer watches, where it has no rights to write that itself.

import type { Log } from '../../telemetry/log.ts'
import { readVersion } from '../../telemetry/version.ts'
import { type Clock, SYSTEM_CLOCK } from '../../base/clock.ts'
import type { OperatorSettings } from '../config.ts'
import { createKubernetesApi } from '../kubernetes/client/client.ts'
import { type ClusterOptions, loadCluster } from '../kubernetes/config/kubeconfig.ts'
import { namespaceReleased } from '../resource/released.ts'
import { operatorName } from '../status/kubernetes-status-apply.ts'
import { releaseLines, releaseStatuses } from './release-statuses.ts'

export interface ReleaseRun {
  readonly settings: OperatorSettings
  readonly env: ClusterOptions['env']
  readonly log: Log
  readonly print: (text: string) => void
}

/** Everything after it fails at once, and is listed. */
const DEADLINE_MS = 90_000

/** 0 also where something could not be written: it is listed, and an upgrade that has succeeded does not fail by it. */
export const runRelease = async ({ settings, env, log, print }: ReleaseRun): Promise<0> => {
  const clock: Clock = SYSTEM_CLOCK
  const { kubeconfig, namespaces } = settings
  if (namespaces.includes('all')) {
    print('nothing to release: all namespaces are watched\n')
    return 0
  }
  const cluster = await loadCluster({ env, clock, ...(kubeconfig !== null && { kubeconfig }) })
  const userAgent = `svc-operator/${readVersion()}`
  const api = createKubernetesApi({ cluster, clock, log, userAgent })
  const cancel = clock.after(DEADLINE_MS, () => void api.close())
  const operator = operatorName(settings, settings.namespace ?? cluster.namespace)
  const watched = new Set(namespaces)
  try {
    const released = await releaseStatuses({
      api,
      clock,
      operator,
      namespaces: 'all',
      isMeant: (namespace) => !watched.has(namespace),
      message: (namespace) => namespaceReleased(namespace, operator),
    })
    for (const line of releaseLines(released)) print(`${line}\n`)
    return 0
  } finally {
    cancel()
    await api.close()
  }
}
