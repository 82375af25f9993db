// How Secrets and certificates are called: what roles, charts and pods must agree on. Data only.

import { DATA_PLANE_SECRET } from '../resource/roles.ts'

/** `server` is in each namespace of data planes, the others in the operator's. */
export const SECRET_NAMES = {
  authority: 'svc-gateway-ca',
  client: 'svc-gateway-operator-tls',
  webhook: 'svc-gateway-webhook-tls',
  server: DATA_PLANE_SECRET,
} as const

/**
 * What the certificates of the data planes of a namespace carry.
 * @example serverNameOf('shop') // 'shop.gateway.svc.dev'
 */
export const serverNameOf = (namespace: string): string => `${namespace}.gateway.svc.dev`
