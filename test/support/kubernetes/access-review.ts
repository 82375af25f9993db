// Asks the API server whether someone may do something. It learns of roles and bindings by watches of its own: what is
// granted or taken away counts a moment after it was written.

import { eventually } from '../eventually.ts'
import { demand } from './api-client.ts'
import type { ControlPlane } from './control-plane.ts'

export interface Access {
  readonly user: string
  readonly verb: string
  /** The core group otherwise. */
  readonly group?: string
  readonly resource: string
  readonly subresource?: string
  /** In all namespaces, or of the cluster, otherwise. */
  readonly namespace?: string
  /** Any otherwise. */
  readonly name?: string
}

/** A service account, as `user`. */
export const userOf = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`

export const isGranted = async (
  plane: ControlPlane,
  { user, ...resourceAttributes }: Access,
): Promise<boolean> => {
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const body = { spec: { user, resourceAttributes } }
  const response = demand(await plane.request({ method: 'POST', path, body }))
  return (response.json() as { readonly status: { readonly allowed: boolean } }).status.allowed
}

/** @example await untilGranted(plane, { user: userOf('default', 'watcher'), verb: 'list', resource: 'pods' }) */
export const untilGranted = (plane: ControlPlane, access: Access): Promise<void> =>
  eventually(async () => {
    if (!(await isGranted(plane, access))) throw new Error(`not granted: ${JSON.stringify(access)}`)
  }, PATIENCE)

export const untilForbidden = (plane: ControlPlane, access: Access): Promise<void> =>
  eventually(async () => {
    if (await isGranted(plane, access)) throw new Error(`still granted: ${JSON.stringify(access)}`)
  }, PATIENCE)

/** A busy machine takes its time. */
const PATIENCE = { withinMs: 30_000, everyMs: 20 }
