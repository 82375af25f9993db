// Opens the pages of an operator on Kubernetes: its status for people, its health and readiness for probes.

import type { MetricsState } from '../telemetry/metrics-state.ts'
import type { WebhookManager } from './admission/webhook-manager.ts'
import { SYSTEM_CLOCK } from '../base/clock.ts'
import type { OperatorSettings } from './config.ts'
import type { Controller } from './controller/controller.ts'
import type { WarmDataPlanes } from './source/warm-data-planes.ts'
import { createOperatorMetrics } from './metrics.ts'
import type { Replica } from './replica.ts'
import type { SourceNote } from './resource/resource-source.ts'
import { debugPages } from './status/debug-pages.ts'
import { healthPages, type PageSources, statusPages } from './status/page.ts'
import { fleetPages } from './status/fleet-pages.ts'
import { overviewPages } from './status/overview-pages.ts'
import { type StatusServer, startStatusServer } from './status/status-server.ts'

export interface PagesOptions {
  readonly settings: Pick<OperatorSettings, 'status' | 'health' | 'manager'>
  /** For probes: open already, and not responding yet. */
  readonly health?: StatusServer | undefined
}

export interface PagesParts {
  readonly controller: Controller
  readonly dataPlanes: WarmDataPlanes
  readonly webhooks: readonly WebhookManager[]
  readonly readMetrics: () => Promise<MetricsState>
  /** Failures outside of the resources. */
  readonly failures: () => readonly SourceNote[]
}

/** An operator that can't register its webhook is useful all the same. */
const INTRODUCTION_MS = 20_000

/**
 * One server for a person, on loopback, and one for probes.
 * @throws Error when an address can't be listened on
 */
export const openPages = async (
  { settings: { status, health: healthAddress, manager }, health }: PagesOptions,
  { controller, dataPlanes, webhooks, failures, readMetrics }: PagesParts,
  leader: Replica['leader'],
): Promise<readonly StatusServer[]> => {
  const startedMs = SYSTEM_CLOCK.now()
  const sources: PageSources = {
    leader,
    status: () => {
      const notes = [...controller.status.notes, ...dataPlanes.notes(), ...failures()]
      return { ...controller.status, notes }
    },
    metrics: createOperatorMetrics(() => controller.status, [readMetrics]),
    unready: () => {
      if (!controller.status.isReady) return 'the resources have not been read yet'
      if (!dataPlanes.synced()) return 'the data planes are not known yet'
      const isWaiting = SYSTEM_CLOCK.now() - startedMs < INTRODUCTION_MS
      return isWaiting && !webhooks.every(({ isIntroduced }) => isIntroduced)
        ? 'the webhook is not registered with the API server yet'
        : undefined
    },
  }
  const desired = () => controller.desired
  const open: StatusServer[] = []
  if (status !== 'off') {
    const pages = {
      ...statusPages(sources),
      ...debugPages({ ...sources, desired }),
      ...overviewPages({ ...sources, desired, manager }),
      ...fleetPages({ fleet: () => controller.fleet, leader }),
    }
    open.push(await startStatusServer(status, 'people', pages))
  }
  if (healthAddress !== 'off') {
    const server = health ?? (await startStatusServer(healthAddress, 'probes'))
    server.serve(healthPages(sources))
    open.push(server)
  }
  return open
}
