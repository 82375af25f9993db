// Runs `svc-operator uninstall`: writes what it has removed to stdout, and returns the exit code. Ends within a bounded
// time, whatever the API server does.

import type { Log } from '../../telemetry/log.ts'
import { readVersion } from '../../telemetry/version.ts'
import { type Clock, SYSTEM_CLOCK } from '../../base/clock.ts'
import type { OperatorSettings } from '../config.ts'
import { createKubernetesApi } from '../kubernetes/client/client.ts'
import { type ClusterOptions, loadCluster } from '../kubernetes/config/kubeconfig.ts'
import { uninstall } from './uninstall.ts'

export interface UninstallRun {
  readonly settings: OperatorSettings
  readonly env: ClusterOptions['env']
  readonly log: Log
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

/** Everything after it fails at once, and is listed as left. */
const DEADLINE_MS = 90_000

/** 0: nothing of the operator is left. 1: something is, and the command that removes it was printed. */
export const runUninstall = async (run: UninstallRun): Promise<0 | 1> => {
  const { settings, env, log, print, complain } = run
  const clock: Clock = SYSTEM_CLOCK
  const { kubeconfig, webhookService, webhookUrl, lease } = settings
  const cluster = await loadCluster({ env, clock, ...(kubeconfig !== null && { kubeconfig }) })
  const userAgent = `svc-operator/${readVersion()}`
  const api = createKubernetesApi({ cluster, clock, log, userAgent })
  const cancel = clock.after(DEADLINE_MS, () => {
    complain(`${DEADLINE_MS / 1000} s are over: what was not done by then is left\n`)
    void api.close()
  })
  const namespace = settings.namespace ?? cluster.namespace
  try {
    const left = await uninstall({
      api,
      clock,
      namespace,
      lease,
      webhookService,
      webhookUrl,
      namespaces: namespacesOf(settings, namespace),
      watched: settings.namespaces.includes('all') ? 'all' : settings.namespaces,
      print: (line) => {
        print(`${line}\n`)
      },
    })
    for (const { object, command } of left)
      complain(`left: ${object}; remove it with: ${command}\n`)
    return left.length === 0 ? 0 : 1
  } finally {
    cancel()
    await api.close()
  }
}

const namespacesOf = (
  { namespaces, dataPlaneNamespaces }: OperatorSettings,
  own: string,
): readonly string[] | 'all' =>
  namespaces.includes('all') ? 'all' : [...new Set([own, ...namespaces, ...dataPlaneNamespaces])]
