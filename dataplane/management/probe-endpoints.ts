// Serves `/ping`, `/started`, `/ready` and `/metrics` for probes and scrapers (behaviour §8).

import type { RequestHandler } from 'express'
import { untilAnswerable } from '../../telemetry/delayed-response.ts'
import { sendNothing } from './respond.ts'
import type { Endpoint, ProbeDeps } from './endpoint.ts'
import { ManagementError } from './management-error.ts'

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
 * Whether the gateway has started. Once the time of the probe is over, a gateway with an open management API has
 * started, whether ready or not. One without a certificate has started as soon as an operator connects, as the
 * operator has created the certificate by then: the kubelet updates a mounted volume when the result of a probe
 * changes, and otherwise once a minute.
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
      throw new ManagementError(
        503,
        'svc.error.not_ready',
        'The management API has no certificate yet',
      )
    sendNothing(res)
  }

/** The response may be delayed while there is no sync yet; a draining gateway responds immediately. */
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
      throw new ManagementError(503, 'svc.error.not_ready', REASONS[state], {
        description: state === 'waiting' ? readiness.waitsFor : '',
      })
    // Ready nevertheless: all gateways would go out of service at once.
    const degraded = degradations()
    if (degraded.length > 0) res.setHeader('x-svc-degraded', degraded.join(', '))
    sendNothing(res)
  }
