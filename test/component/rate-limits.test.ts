// A rate limit is one limit at all processes of a gateway.

import { expect, it } from '@jest/globals'
import { startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { answers, api, load } from './gateway-client.ts'

it.each([1, 2, 3])(
  'a gateway of %d processes lets through what the limit says',
  async (processes) => {
    await using gateway = await startGateway({ flags: ['--processes', String(processes)] })
    const rate_limits = { calls: { requests: 30, seconds: 86_400 } }
    await load(gateway, api('limited', { '/x': { ...answers('x'), rate_limits } }))
    // Each on a connection of its own, so that all processes get some.
    const responses = await Promise.all(
      Array.from({ length: 90 }, () => request(`${gateway.public}/limited/x`)),
    )
    const count = (status: number): number =>
      responses.filter((response) => response.status === status).length
    expect([count(200), count(429)]).toEqual([30, 60])
    expect(new Set(responses.map(({ headers }) => headers['ratelimit-policy']))).toEqual(
      new Set(['"calls";q=30;w=86400']),
    )
  },
  60_000,
)
