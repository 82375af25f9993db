// Tests GET /why/:id and GET /why of the management API: what the serving processes have kept, and what is said if none
// has.

import { describe, expect, it } from '@jest/globals'
import type { FindDecisions, FindFailures } from '../../../dataplane/management/why-endpoint.ts'
import { aDecision } from '../../support/a-decision.ts'
import { isErrorRecord, startGateway } from './gateway.ts'

const textOf = (status: number): string => JSON.stringify(aDecision({ status }))

const ringsWith =
  (...replies: readonly (readonly string[] | undefined)[]): FindDecisions =>
  (id) =>
    Promise.resolve(id === 'kept/1' ? replies : replies.map((reply) => reply && []))

describe('GET /why/:id', () => {
  it('returns the decisions of all processes', async () => {
    const decisions = ringsWith([textOf(404)], [textOf(502), textOf(503)], undefined)
    await using gateway = await startGateway({ app: { decisions } })
    const response = await gateway.send('GET', '/why/kept%2F1')
    const sentences = { why: 'the action failed' }
    expect([response.status, response.json]).toMatchObject([
      200,
      {
        decisions: [
          { status: 404, sentences },
          { status: 502, sentences },
          { status: 503, sentences },
        ],
        processes: { asked: 3, answered: 2 },
      },
    ])
  })

  it('returns a bounded number of decisions', async () => {
    const many = Array.from({ length: 40 }, () => textOf(500))
    await using gateway = await startGateway({ app: { decisions: ringsWith(many, many) } })
    const { json } = await gateway.send('GET', '/why/kept%2F1')
    expect((json as { readonly decisions: unknown[] }).decisions).toHaveLength(32)
  })

  it.each([
    ['/why/other', 404, /one success in a hundred.* 1 serving processes .* not replied/],
    [`/why/${'x'.repeat(129)}`, 400, /X-Request-Id/],
    ['/why/a%20b', 400, /X-Request-Id/],
    ['/why/%C3%A4', 400, /X-Request-Id/],
  ])('GET %s is %i', async (path, status, description) => {
    await using gateway = await startGateway({
      app: { decisions: ringsWith([textOf(500)], undefined) },
    })
    const response = await gateway.send('GET', path)
    expect([response.status, isErrorRecord(response)]).toEqual([status, true])
    expect(response.record.description).toMatch(description)
  })

  it('needs the credentials of the management API', async () => {
    const authorize = () => ({ status: 401, headers: {} })
    await using gateway = await startGateway({
      app: { decisions: ringsWith([textOf(500)]), authorize },
    })
    expect((await gateway.send('GET', '/why/kept%2F1')).status).toBe(401)
  })
})

describe('GET /why', () => {
  const failing =
    (...replies: readonly (readonly number[] | undefined)[]): FindFailures =>
    ({ beforeMs = Infinity, limit }) =>
      Promise.resolve(
        replies.map((times) =>
          times
            ?.filter((time) => time < beforeMs)
            .slice(0, limit)
            .map((endedMs) => ({ endedMs, text: JSON.stringify(aDecision({ id: `${endedMs}` })) })),
        ),
      )

  it('merges the failures of all processes, page by page', async () => {
    const failures = failing([9, 5, 3], [8, 4], undefined)
    await using gateway = await startGateway({ app: { failures } })
    const pages: unknown[] = []
    for (let next: number | null = 10; next !== null;) {
      const { json } = await gateway.send('GET', `/why?limit=2&before=${next}`)
      pages.push(json)
      next = (json as { readonly next: number | null }).next
    }
    const processes = { asked: 3, answered: 2 }
    expect(pages).toMatchObject([
      { failures: [9, 8].map((ms) => ({ ended_ms: ms, id: `${ms}` })), next: 8, processes },
      { failures: [5, 4].map((ms) => ({ ended_ms: ms, id: `${ms}` })), next: 4, processes },
      { failures: [{ ended_ms: 3, id: '3' }], next: null, processes },
    ])
  })

  it.each([
    ['limit=0', /limit must be/],
    ['limit=101', /limit must be/],
    ['limit=1e1', /limit must be/],
    ['before=-1', /before must be/],
    ['before=1&before=2', /before must be/],
    [`match=${'x'.repeat(257)}`, /match must be/],
    ['match=a&match=b', /match must be/],
  ])('refuses %s', async (query, message) => {
    await using gateway = await startGateway({ app: { failures: failing([1]) } })
    const response = await gateway.send('GET', `/why?${query}`)
    expect([response.status, response.record.message]).toEqual([
      400,
      expect.stringMatching(message),
    ])
  })

  it('needs the credentials of the management API', async () => {
    const authorize = () => ({ status: 401, headers: {} })
    await using gateway = await startGateway({ app: { failures: failing([1]), authorize } })
    expect((await gateway.send('GET', '/why')).status).toBe(401)
  })
})
