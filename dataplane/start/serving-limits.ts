// Creates the policy for new limits of one serving process from its settings: requests that exceed one are counted,
// and logged if they are let through.

import type { Log } from '../../telemetry/log.ts'
import type { GatewaySettings } from '../config.ts'
import { createLimitPolicy, type LimitPolicy } from '../limit-policy.ts'
import type { GatewayMetrics } from '../metrics.ts'

export const createServingLimits = (
  { newLimits }: Pick<GatewaySettings, 'newLimits'>,
  metrics: GatewayMetrics,
  log: Log,
): LimitPolicy =>
  createLimitPolicy({
    isEnforced: newLimits === 'enforce',
    onExceeded: (limit) => {
      metrics.count('limitsExceeded', { limit })
    },
    onLetThrough: (limit) => {
      log.warn('a request exceeds a limit; it is let through because of --new-limits report', {
        limit,
      })
    },
    now: () => performance.now(),
  })
