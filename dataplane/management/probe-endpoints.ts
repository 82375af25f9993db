// `/ping`, `/started`, `/ready`, `/metrics`: what probes and scrapers ask (behaviour §8).

import type { RequestHandler } from 'express'
import { untilAnswerable } from '../../telemetry/held-answer.ts'
import { sendNothing } from './answer.ts'
import type { Endpoint, ProbeDeps } from './endpoint.ts'
import { ManagementFault } from './fault.ts'

const REASONS = {
  waiting: 'The manager has not completed a sync yet',
  draining: 'The gateway is shutting down',
} as const

export const probeEndpoints = (deps: ProbeDeps): readonly Endpoint[] => [
  {
    path: '/ping',
    any: (_req, res) => {
      sendNothing(res)
    },
  },
  { path: '/started', get: started(deps) },
  { path: '/ready', get: ready(deps) },
  { path: '/metrics', get: (req, res) => deps.metrics(req, res) },
]

/**
 * Whether there is more to wait for. A gateway that has its management API has started, ready or not, once the time of
 * the probe is over; so has one that lacks its certificate as soon as an operator comes for it, for the operator has
 * made the certificate by then: the kubelet looks at a volume that came up without it when a probe changes its mind, and
 * else once a minute.
 */
const started =
  ({
    readiness,
    hasManagement = () => true,
    isManagementAwaited = () => false,
  }: ProbeDeps): RequestHandler =>
  async (req, res) => {
    await untilAnswerable({
      url: req.originalUrl,
      isPending: () => readiness.state === 'waiting' && !isManagementAwaited(),
      isGone: () => res.destroyed,
    })
    if (readiness.state === 'waiting' && !hasManagement() && !isManagementAwaited())
      throw new ManagementFault(
        503,
        'svc.error.not_ready',
        'The management API has no certificate yet',
      )
    sendNothing(res)
  }

/** The answer may be held while there is no sync yet; one that drains says so at once. */
const ready =
  ({ readiness, degradations = () => [] }: ProbeDeps): RequestHandler =>
  async (req, res) => {
    await untilAnswerable({
      url: req.originalUrl,
      isPending: () => readiness.state === 'waiting',
      isGone: () => res.destroyed,
    })
    const { state } = readiness
    if (state === 'waiting' || state === 'draining')
      throw new ManagementFault(503, 'svc.error.not_ready', REASONS[state], {
        description: state === 'waiting' ? readiness.waitsFor : '',
      })
    // Ready all the same: to take every gateway out of service would help nobody.
    const degraded = degradations()
    if (degraded.length > 0) res.setHeader('x-svc-degraded', degraded.join(', '))
    sendNothing(res)
  }
