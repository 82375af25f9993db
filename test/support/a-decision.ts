// Makes decisions as gateways give them at `GET /why`.

import type { ValueMap } from '../../language/expression/value.ts'

/** @example aDecision({ status: 404, ended_ms: Date.now() }) */
export const aDecision = (more: ValueMap = {}): ValueMap => ({
  id: 'some-id',
  at: '2026-01-01T00:00:00.000Z',
  ms: 1,
  process: 1,
  method: 'get',
  scheme: 'http',
  status: 500,
  step: 'action',
  pathLength: 1,
  hostLength: 1,
  ...more,
})
