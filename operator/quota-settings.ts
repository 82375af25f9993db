// Lists the settings that bound what one namespace may take of the operator and the gateways.

import type { ReasonedSettings } from '../telemetry/settings-table.ts'
import { MB } from './reconcile/quotas/namespace-quotas.ts'
import type { Amounts } from './reconcile/quotas/quota-amounts.ts'

export const QUOTA_SETTINGS = {
  'namespace-max-documents': {
    type: 'integer',
    default: 10_000,
    max: 10_000_000,
    help: 'with --kubernetes: ApiSpecifications of one namespace that may be in service; an annotation of the Namespace overrides it',
    reason: 'clusters of tenants: one must not fill the memory of all gateways',
  },
  'namespace-max-routes': {
    type: 'integer',
    default: 200_000,
    max: 100_000_000,
    help: 'routes of all ApiSpecifications of one namespace, counted as for --max-routes',
    reason: 'as --namespace-max-documents: routes take memory, too',
  },
  'namespace-max-mb': {
    type: 'integer',
    default: 128,
    max: 1_000_000,
    help: 'MB of all ApiSpecifications of one namespace, as JSON with their variables from Secrets',
    reason: 'as --namespace-max-documents: few documents may be large',
  },
  'namespace-max-realms': {
    type: 'integer',
    default: 500,
    max: 1_000_000,
    help: 'with --kubernetes: Realms of one namespace that may be in service',
    reason: 'as --namespace-max-documents: realms hold sessions and keys',
  },
} as const satisfies ReasonedSettings

export const namespaceQuotaFrom = (settings: {
  readonly namespaceMaxDocuments: number
  readonly namespaceMaxRoutes: number
  readonly namespaceMaxMb: number
  readonly namespaceMaxRealms: number
}): Amounts => ({
  documents: settings.namespaceMaxDocuments,
  routes: settings.namespaceMaxRoutes,
  bytes: settings.namespaceMaxMb * MB,
  realms: settings.namespaceMaxRealms,
})
