// Tests GET /why/:id of the management API: what the serving processes have kept, and what is said if none has.

import { describe, expect, it } from '@jest/globals'
import type { FindDecisions } from '../../../dataplane/management/why-endpoint.ts'
import { isErrorRecord, startGateway } from './gateway.ts'

const ringsWith =
  (...replies: readonly (readonly string[] | undefined)[]): FindDecisions =>
  (id) =>
    Promise.resolve(id === 'kept/1' ? replies : replies.map((reply) => reply && []))

describe('GET /why/:id', () => {
  it('returns the decisions of all processes', async () => {
    const decisions = ringsWith(['{"status":404}'], ['{"status":502}', '{"status":503}'], undefined)
    await using gateway = await startGateway({ app: { decisions } })
    const answer = await gateway.send('GET', '/why/kept%2F1')
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        decisions: [{ status: 404 }, { status: 502 }, { status: 503 }],
        processes: { asked: 3, answered: 2 },
      },
    ])
  })

  it('returns a bounded number of decisions', async () => {
    const many = Array.from({ length: 40 }, () => '{}')
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
    await using gateway = await startGateway({ app: { decisions: ringsWith(['{}'], undefined) } })
    const answer = await gateway.send('GET', path)
    expect([answer.status, isErrorRecord(answer)]).toEqual([status, true])
    expect(answer.record.description).toMatch(description)
  })

  it('needs the credentials of the management API', async () => {
    const authorize = () => ({ status: 401, headers: {} })
    await using gateway = await startGateway({ app: { decisions: ringsWith(['{}']), authorize } })
    expect((await gateway.send('GET', '/why/kept%2F1')).status).toBe(401)
  })
})
