// Finds out where the API server is and how to authenticate there, from a kubeconfig or the files of a pod. It reads
// files and runs the programs that a kubeconfig names; it never logs their content or output.

import { access } from 'node:fs/promises'
import { join } from 'node:path'

import type { Clock } from '../../../base/clock.ts'
import type { Cluster } from './cluster.ts'
import { loadKubeconfigFile } from './kubeconfig-file.ts'
import { loadPodCluster } from './service-account.ts'

export interface ClusterOptions {
  /** A kubeconfig, of which the current context is used unless `context` names another one. */
  readonly kubeconfig?: string
  readonly context?: string
  /** `KUBECONFIG`, `HOME`, `KUBERNETES_SERVICE_HOST` and `_PORT` are read of it. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The directory of a pod's service account; a test brings its own. */
  readonly accountDirectory?: string
}

const ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * In this order: `kubeconfig`, `$KUBECONFIG`, the service account of the pod we run in, `~/.kube/config`.
 * @throws Error that says what was looked for, or what is wrong with what was found
 * @example await loadCluster({ env: process.env, clock: SYSTEM_CLOCK })
 */
export const loadCluster = async (options: ClusterOptions): Promise<Cluster> => {
  const { env, clock, context, accountDirectory = ACCOUNT_DIRECTORY } = options
  const named = options.kubeconfig ?? env['KUBECONFIG'] ?? ''
  if (named !== '') return loadKubeconfigFile(named, { clock, context })
  const host = env['KUBERNETES_SERVICE_HOST'] ?? ''
  if (host !== '' && context === undefined) {
    const port = env['KUBERNETES_SERVICE_PORT'] ?? '443'
    return loadPodCluster({ host, port, directory: accountDirectory, clock })
  }
  const atHome = join(env['HOME'] ?? '/nonexistent', '.kube', 'config')
  if (await isThere(atHome)) return loadKubeconfigFile(atHome, { clock, context })
  throw new Error(
    'no Kubernetes API server is known: this is not a pod, KUBECONFIG is not set and ~/.kube/config does not exist; ' +
      'name a kubeconfig',
  )
}

const isThere = async (path: string): Promise<boolean> => {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}
