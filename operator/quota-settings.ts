// What one namespace may take of the operator and the gateways, as the settings that say so.

import type { SettingsTable } from '../telemetry/settings-table.ts'
import { MB } from './reconcile/quotas/namespace-quotas.ts'
import type { Amounts } from './reconcile/quotas/quota-amounts.ts'

export const QUOTA_SETTINGS = {
  'namespace-max-documents': {
    type: 'integer',
    default: 10_000,
    max: 10_000_000,
    help: 'ApiSpecifications of one namespace that are put into service, with --kubernetes; an annotation of the Namespace decides for it',
  },
  'namespace-max-routes': {
    type: 'integer',
    default: 200_000,
    max: 100_000_000,
    help: 'routes of all of them, counted as for --max-routes',
  },
  'namespace-max-mb': {
    type: 'integer',
    default: 128,
    max: 1_000_000,
    help: 'MB of all of them, as JSON with the variables that Secrets give them',
  },
  'namespace-max-realms': {
    type: 'integer',
    default: 500,
    max: 1_000_000,
    help: 'Realms of one namespace that are put into service, with --kubernetes',
  },
} as const satisfies SettingsTable['settings']

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
