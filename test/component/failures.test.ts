// Every way in which a request can fail, with a real gateway: what the client is told, and what can be found out about
// it afterwards. Nothing of the peers reaches the client, and the same failure is logged once.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { HttpResponse } from '../support/http-request.ts'
import { type Row, ROWS } from './failing-requests.ts'
import { type FailingRig, type Evidence, startFailingRig } from './failing-rig.ts'

let rig: FailingRig
let metrics: string
const evidence = new Map<string, readonly [Evidence, Evidence]>()

type Sent = readonly [id: string, response: HttpResponse]

/** Again and again with other ids where an earlier request has to bring about what makes it fail. */
const send = async (row: Row, id: string): Promise<Sent> => {
  const { path, options = {}, status } = row
  for (let attempt = 0; ; attempt++) {
    const own = attempt === 0 ? id : `${id}-${attempt}`
    const response = await rig.send(
      own,
      path,
      typeof options === 'function' ? options(rig) : options,
    )
    if (response.status === status || row.isRepeated !== true) return [own, response]
  }
}

beforeAll(async () => {
  rig = await startFailingRig()
  const sent = new Map<string, readonly [Sent, Sent]>()
  const holder = await rig.fillPool()
  for (const row of ROWS)
    sent.set(row.name, [await send(row, `${row.name}-1`), await send(row, `${row.name}-2`)])
  await holder[Symbol.asyncDispose]()
  for (const [name, [first, again]] of sent)
    evidence.set(name, [await rig.find(...first), await rig.find(...again)])
  metrics = await rig.metrics()
}, 60_000)

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const evidenceOf = ({ name }: Row): readonly [Evidence, Evidence] => {
  const found = evidence.get(name)
  if (found === undefined) throw new Error(`nothing was sent for ${name}`)
  return found
}

const matching = (text: string | RegExp): unknown =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)

describe.each(ROWS.map((row) => [row.name, row] as const))('a request that fails: %s', (_, row) => {
  it('tells the client what it may know, and nothing of the peers', () => {
    const [{ id, response }] = evidenceOf(row)
    const { status, text, headers } = response
    expect({ status, text, id: headers['x-request-id'] }).toEqual({
      status: row.status,
      text: matching(row.body),
      id,
    })
    const told = `${text} ${JSON.stringify(headers)}`
    expect(rig.secrets.filter((secret) => told.includes(secret))).toEqual([])
  })

  it('is logged once, where somebody has to act', () => {
    const [first, again] = evidenceOf(row)
    expect(first.logged).toEqual(expectedLines(row, first.id))
    expect(again.logged).toEqual([])
  })

  it('is in the audit log if it is about a caller', () => {
    const [first] = evidenceOf(row)
    const expected = row.audit === undefined ? [] : [row.audit]
    expect(first.audited).toEqual(expected.map((fields) => expect.objectContaining(fields)))
  })

  it('has its code, reason and upstream in the access log', () => {
    for (const { access } of evidenceOf(row))
      expect({ ...access }).toMatchObject({
        status: row.status,
        ...definedOf({
          code: knownCode(row),
          reason: row.reason,
          upstream: row.upstream?.(rig),
        }),
      })
  })

  it('is counted', () => {
    expect(metrics).toContain(row.metric(row))
  })

  it('has a span with its cause', () => {
    for (const { span } of evidenceOf(row))
      expect(span).toMatchObject({
        'http.response.status_code': row.status,
        ...definedOf({ 'svc.upstream': row.upstream?.(rig), 'error.type': row.type }),
      })
  })

  it('is explained by GET /why', () => {
    for (const { decision } of evidenceOf(row))
      expect(decision).toMatchObject({
        status: row.status,
        step: row.step,
        ...definedOf({ code: knownCode(row), reason: row.reason, pointer: row.pointer }),
        ...row.why,
      })
  })
})

const expectedLines = ({ log, upstream, reason }: Row, requestId: string): readonly unknown[] => {
  if (log === undefined) return []
  const { msg, ...fields } = log
  const of = definedOf({ upstream: upstream?.(rig), reason })
  return [expect.objectContaining({ ...fields, ...of, msg: matching(msg), requestId })]
}

const definedOf = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const knownCode = ({ known, code }: Row): string | undefined => known ?? code
