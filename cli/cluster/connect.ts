// Connects a command to the cluster that its settings name, as kubectl would: by a kubeconfig and its context, or by the
// service account of the pod it runs in.

import { SYSTEM_CLOCK } from '../../base/clock.ts'
import { messageOf } from '../../base/thrown.ts'
import type { KubernetesApi } from '../../operator/kubernetes/client/api.ts'
import { loadCluster } from '../../operator/kubernetes/config/kubeconfig.ts'
import { readVersion } from '../../telemetry/version.ts'
import type { CommandIo } from '../command.ts'
import type { ClusterSettings } from './cluster-settings.ts'

export interface ClusterConnection extends AsyncDisposable {
  readonly api: KubernetesApi
  /** For messages: `https://127.0.0.1:6443`. */
  readonly server: string
  /** The namespace of objects that name none: that of the settings, else that of the context. */
  readonly namespace: string
}

/** Connects at the first call; until then only files are read. */
export const connectCluster = async (
  { kubeconfig, context, namespace }: ClusterSettings,
  { env }: Pick<CommandIo, 'env'>,
): Promise<ClusterConnection | { readonly error: string }> => {
  try {
    const cluster = await loadCluster({
      env,
      clock: SYSTEM_CLOCK,
      ...(kubeconfig !== null && { kubeconfig }),
      ...(context !== null && { context }),
    })
    // Half a second of loading, which help and files that are wrong need not wait for.
    const [{ createKubernetesApi }, { createSilentLog }] = await Promise.all([
      import('../../operator/kubernetes/client/client.ts'),
      import('../../telemetry/log.ts'),
    ])
    const api = createKubernetesApi({
      cluster,
      clock: SYSTEM_CLOCK,
      log: createSilentLog(),
      userAgent: `svc/${readVersion()}`,
    })
    return {
      api,
      server: cluster.server,
      namespace: namespace ?? cluster.namespace,
      [Symbol.asyncDispose]: () => api.close(),
    }
  } catch (error) {
    return { error: messageOf(error) }
  }
}
