// Makes the policy for new limits of one serving process from its settings: what exceeds them is counted, and told in the
// log where it is let through.

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
      log.warn('a request exceeds a limit, and is let through: --new-limits report', { limit })
    },
    now: () => performance.now(),
  })
