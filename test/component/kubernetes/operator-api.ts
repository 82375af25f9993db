// Installs our CRDs and roles in a control plane, and gives its API as the operator's own account sees it.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { KubernetesApi } from '../../../operator/kubernetes/client/api.ts'
import { createKubernetesApi } from '../../../operator/kubernetes/client/client.ts'
import { loadCluster } from '../../../operator/kubernetes/config/kubeconfig.ts'
import {
  type OperatorAccount,
  rolesFor,
  type RolesOptions,
} from '../../../operator/resource/roles-for.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'

const CRDS = join(import.meta.dirname, '../../../crds')

export const applyDefinitions = async (plane: Pick<ControlPlane, 'apply'>): Promise<void> => {
  for (const file of ['apispecifications.yaml', 'realms.yaml'])
    await plane.apply(await readFile(join(CRDS, file), 'utf8'))
}

export const makeNamespace = async (
  plane: Pick<ControlPlane, 'request'>,
  name: string,
): Promise<void> => {
  const body = { metadata: { name } }
  demand(await plane.request({ method: 'POST', path: '/api/v1/namespaces', body }), 409)
}

/** With the least rights that there are for these namespaces, which are made where they are missing. */
export const operatorApi = async (
  plane: ControlPlane,
  options: Pick<RolesOptions, 'namespaces' | 'dataPlaneNamespaces'> & OperatorAccount,
): Promise<KubernetesApi> => {
  const { operatorNamespace, serviceAccount, namespaces, dataPlaneNamespaces = [] } = options
  const named = [...dataPlaneNamespaces, ...(namespaces === 'all' ? [] : namespaces)]
  for (const namespace of named) await makeNamespace(plane, namespace)
  const kubeconfig = await plane.serviceAccount(operatorNamespace, serviceAccount)
  await plane.apply(rolesFor(options))
  const cluster = await loadCluster({ kubeconfig, env: {}, clock: SYSTEM_CLOCK })
  return createKubernetesApi({
    cluster,
    clock: SYSTEM_CLOCK,
    log: createSilentLog(),
    userAgent: 'svc-operator/test',
  })
}
