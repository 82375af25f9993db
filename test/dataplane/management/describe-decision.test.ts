// Tests the sentences that `GET /why` has of a decision: each step and reason has its own, and none is left unsaid.

import { describe, expect, it } from '@jest/globals'
import type { Decision } from '../../../dataplane/decisions/decision.ts'
import { FAILURE_SENTENCES } from '../../../dataplane/http/failure-report.ts'
import { describeDecision } from '../../../dataplane/management/describe-decision.ts'

const BARE: Decision = {
  id: 'some-id',
  at: '2026-11-24T03:04:05.678Z',
  ms: 3.1,
  process: 1,
  method: 'get',
  scheme: 'http',
  status: 504,
  step: 'action',
  code: 'svc.error.bad_gateway',
  pathLength: 12,
  hostLength: 8,
}

const FAILED: Decision = {
  ...BARE,
  reason: 'dns',
  attempts: 2,
  upstream: 'http://ordrs.shop',
  detail: 'getaddrinfo ENOTFOUND ordrs.shop',
  pointer: '/versions/v1/paths/~1orders~1:id/get/action',
  document: {
    id: 'orders',
    version: 'v1',
    realm: 'com.acme',
    path: '/v1/orders/:id',
    action: 'forward',
  },
}

describe('what is said of a decision', () => {
  it('has what came, where it ended, why, with upstream and cause, and what to do', () => {
    expect(describeDecision(FAILED)).toEqual({
      came: 'GET /v1/orders/:id over http at 2026-11-24T03:04:05.678Z was answered with 504 (svc.error.bad_gateway) after 3.1 ms',
      decided:
        'It ended at the action: forward of orders, version v1, realm com.acme, at /versions/v1/paths/~1orders~1:id/get/action',
      why: "the name of the upstream can't be resolved; is it spelt correctly? Upstream: http://ordrs.shop, 2 attempts. Detail: getaddrinfo ENOTFOUND ordrs.shop",
      remedy: 'correct `host`',
    })
  })

  it('names the routes that are near to a path that matched nothing, and none that only has its host', () => {
    const tried = [
      {
        document: 'a',
        host: '_',
        path: '/v1/orders/:id',
        matchedSegments: 2,
        reason: 'path too short',
      },
      { document: 'b', host: '_', path: '/errors', matchedSegments: 0, reason: 'segment' },
    ] as const
    const said = describeDecision({
      ...BARE,
      status: 404,
      step: 'match',
      path: '/v…/orders',
      tried,
    })
    expect(said.came).toContain('GET /v…/orders over http')
    expect(said.decided).toBe('It ended where host and path are matched: no document served it')
    expect(said.why).toBe(
      'no document serves this host and path. Nearest: _/v1/orders/:id of a, but the path of the request ends before it does',
    )
  })

  it.each(Object.keys(FAILURE_SENTENCES))(
    'has a remedy for %s, beside the sentence of the log',
    (each) => {
      const { why, remedy } = describeDecision({ ...FAILED, reason: each })
      expect(why).toContain(Reflect.get(FAILURE_SENTENCES, each))
      expect(remedy).not.toBe('')
    },
  )

  it.each<[Partial<Decision>, string]>([
    [
      { reason: 'audience', claim: 'aud', expected: 'api' },
      'the credentials do not count: audience (aud); expected: api',
    ],
    [{ reason: 'malformed' }, 'the credentials do not count: malformed'],
  ])('says of %j why a token was refused', (token, said) => {
    const { why } = describeDecision({ ...BARE, status: 401, step: 'authenticate', ...token })
    expect(why).toBe(said)
  })

  it('goes by the step where the gateway is newer and has another reason', () => {
    expect(describeDecision({ ...BARE, reason: 'constructor' }).why).toBe('the action failed')
  })

  it('says of a success that nothing was refused', () => {
    expect(describeDecision({ ...BARE, status: 200, step: 'response' })).toMatchObject({
      why: 'nothing was refused',
    })
  })
})
