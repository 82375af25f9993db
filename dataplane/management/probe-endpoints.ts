// `/ping`, `/ready`, `/metrics`: what probes and scrapers ask (behaviour §8).

import { sendNothing } from './answer.ts'
import type { Endpoint, ProbeDeps } from './endpoint.ts'
import { ManagementFault } from './fault.ts'

const REASONS = {
  waiting: 'The manager has not completed a sync yet',
  draining: 'The gateway is shutting down',
} as const

export const probeEndpoints = ({
  readiness,
  metrics,
  degradations = () => [],
}: ProbeDeps): readonly Endpoint[] => [
  {
    path: '/ping',
    any: (_req, res) => {
      sendNothing(res)
    },
  },
  {
    path: '/ready',
    get: (_req, res) => {
      const { state } = readiness
      if (state === 'waiting' || state === 'draining')
        throw new ManagementFault(503, 'svc.error.not_ready', REASONS[state])
      // Ready all the same: to take every gateway out of service would help nobody.
      const degraded = degradations()
      if (degraded.length > 0) res.setHeader('x-svc-degraded', degraded.join(', '))
      sendNothing(res)
    },
  },
  { path: '/metrics', get: (req, res) => metrics(req, res) },
]
