// Names the Secrets and the servers of certificates, in agreement with roles, charts and pods. Data only.

import { DATA_PLANE_SECRET } from '../resource/roles.ts'

/** `server` is in each namespace of data planes, the others in the operator's. */
export const SECRET_NAMES = {
  authority: 'svc-gateway-ca',
  client: 'svc-gateway-operator-tls',
  webhook: 'svc-gateway-webhook-tls',
  server: DATA_PLANE_SECRET,
} as const

/**
 * The DNS name in the certificates of the data planes of a namespace.
 * @example serverNameOf('shop') // 'shop.gateway.svc.dev'
 */
export const serverNameOf = (namespace: string): string => `${namespace}.gateway.svc.dev`
